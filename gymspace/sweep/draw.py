"""Draws: how designs are taken from a space."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

from gymspace.errors import ConfigError
from gymspace.sweep.space import Assignment, Dimension


class Draw(Protocol):
    """Says which design comes next, and may learn from how the earlier ones did."""

    def ask(self) -> Assignment | None:
        """The next design as {key: choice}; None when there are no more."""

    def tell(self, assignment: Assignment, result: Mapping[str, Any]) -> None:
        """Hear the result of one repeat of a design."""


class Grid:
    """Every combination of the choices; the last dimension varies fastest."""

    def __init__(self, space: Sequence[Dimension]):
        self._keys = [d.key for d in space]
        self._rows = product(*(d.choices for d in space))

    def ask(self) -> Assignment | None:
        """The next cell of the grid."""
        row = next(self._rows, None)
        return None if row is None else dict(zip(self._keys, row, strict=True))

    def tell(self, assignment: Assignment, result: Mapping[str, Any]) -> None:
        """A grid learns nothing."""


class Random:
    """``n`` different designs out of all combinations, or all where there are no more.

    They depend on the space and ``seed`` alone, and a larger ``n`` adds to them. The combinations
    are numbered, not listed.
    """

    def __init__(self, space: Sequence[Dimension], n: int = 96, seed: int = 0):
        if n < 1:
            raise ConfigError("sweep.draw.n", "must be 1 or more", value=n)
        self._space = tuple(space)
        size = math.prod(len(d.choices) for d in self._space)
        draws, numbers = random.Random(seed), dict[int, None]()
        while len(numbers) < min(n, size):
            numbers[draws.randrange(size)] = None
        self._numbers = iter(numbers)

    def ask(self) -> Assignment | None:
        """The next of the drawn designs."""
        number = next(self._numbers, None)
        return None if number is None else self._design(number)

    def tell(self, assignment: Assignment, result: Mapping[str, Any]) -> None:
        """It is drawn before anything has run."""

    def _design(self, number: int) -> Assignment:
        found = {}
        for dimension in reversed(self._space):
            number, digit = divmod(number, len(dimension.choices))
            found[dimension.key] = dimension.choices[digit]
        return {d.key: found[d.key] for d in self._space}
