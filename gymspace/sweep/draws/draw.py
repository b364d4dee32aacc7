"""Draws: how designs are taken from a space."""

import random
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Protocol

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.space import Assignment, Space


class Draw(Protocol):
    """Says which design comes next, and may learn from how the earlier ones did."""

    def ask(self) -> Assignment | None:
        """The next design as {key: choice}; None when there are no more."""

    def tell(self, assignment: Assignment, result: Mapping[str, Any]) -> None:
        """Hear the result of one repeat of a design."""


class Fixed:
    """A draw whose designs are known beforehand."""

    def __init__(self, designs: Iterable[Assignment]):
        self._designs = iter(designs)

    def ask(self) -> Assignment | None:
        """The next design."""
        return next(self._designs, None)

    def tell(self, assignment: Assignment, result: Mapping[str, Any]) -> None:
        """It learns nothing."""


class Grid(Fixed):
    """Every design of the space, sub-space after sub-space; the last dimension varies fastest."""

    def __init__(self, space: Space):
        super().__init__(space.designs())


class Random(Fixed):
    """``n`` designs without replacement, or all there are; each of the space is equally likely.

    A range without a step counts as one choice; its values are drawn evenly, or their logarithms.
    More designs begin with the same ones: those of n=10 are the first ten of n=20.

    Raises:
        ConfigError: ``n`` below 1.
    """

    def __init__(self, space: Space, n: int = 96, seed: int = 0):
        require_positive("n", n)
        super().__init__(islice(space.shuffled(random.Random(seed)), n))


def require_positive(name: str, number: int) -> None:
    """Refuse a number of designs below 1."""
    if number < 1:
        raise ConfigError(f"sweep.draw.{name}", "must be 1 or more", value=number)
