"""Designs of cells at random, without repeats and without a list of all of them."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.cells import Cell, name_of
from gymspace.sweep.spaces.constraints import KEY
from gymspace.sweep.spaces.dimension import Assignment, Range

PATIENCE = 50_000  # designs in a row that break a constraint
REPEATED = 50  # draws in a row that were there before


def shuffled(
    cells: Sequence[Cell], rng: random.Random, allows: Callable[[Assignment], bool]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Designs of ``cells`` that are allowed, at random and without repeats, with their parts.

    This is Fisher and Yates' shuffle of the numbers of all rows, of which only what was moved is
    kept; a row with a range in it stays until all of its numbers are taken.
    """
    moved: dict[int, int] = {}
    seen: set[str] = set()
    left, refused = sum(cell.rows for cell in cells), 0
    ranged = any(isinstance(v, Range) for cell in cells for axis in cell.axes for v in axis.rows[0])
    while left:
        at = rng.randrange(left)
        cell, row = _locate(cells, moved.get(at, at))
        design = _filled(row, rng, seen) if ranged else row
        if design is None or not any(isinstance(value, Range) for value in row.values()):
            left -= 1
            last = moved.pop(left, left)
            if at != left:
                moved[at] = last
        if design is None:
            continue
        if allows(design):
            refused = 0
            yield cell.part, design
        else:
            refused += 1
        if refused >= PATIENCE:
            raise ConfigError(KEY, f"none of {PATIENCE} designs drawn in a row meets them")


def _locate(cells: Sequence[Cell], index: int) -> tuple[Cell, dict[str, Any]]:
    for cell in cells:
        if index < cell.rows:
            return cell, cell.at(index)
        index -= cell.rows
    raise IndexError(index)


def _filled(row: dict[str, Any], rng: random.Random, seen: set[str]) -> dict[str, Any] | None:
    """``row`` with a number in place of each range, as it was not seen before; None if all were."""
    ranges = {key: value for key, value in row.items() if isinstance(value, Range)}
    for _ in range(REPEATED if ranges else 1):
        design = row | {key: inner.at(rng.random()) for key, inner in ranges.items()}
        if (name := name_of(design)) not in seen:
            seen.add(name)
            return design
    if any(inner.size is None for inner in ranges.values()):
        return None
    everything = (
        row | dict(zip(ranges, values, strict=True))
        for values in product(*(inner.values for inner in ranges.values()))
    )
    untried = [design for design in everything if name_of(design) not in seen]
    if not untried:
        return None
    design = rng.choice(untried)
    seen.add(name_of(design))
    return design
