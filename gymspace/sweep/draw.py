"""Draws: how designs are taken from a space."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

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
