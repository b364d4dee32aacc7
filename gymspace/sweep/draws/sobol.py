"""Designs of a low-discrepancy sequence, which cover a space more evenly than random ones."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain, count, islice

from gymspace.sweep.draws.draw import Fixed, require_positive
from gymspace.sweep.spaces.cells import Cell
from gymspace.sweep.spaces.dimension import Assignment
from gymspace.sweep.spaces.shuffle import REPEATED
from gymspace.sweep.spaces.space import Space, identity


class Sobol(Fixed):
    """``n`` different designs of the scrambled Sobol sequence (Owen, 1998), or all there are.

    One coordinate chooses among the cases of conditions and sub-spaces by their numbers of designs,
    each other one is for a dimension. Points whose design was there before or is not allowed are
    passed over; after 50 of them in a row the rest is drawn at random.

    Raises:
        ConfigError: ``n`` below 1.
    """

    def __init__(self, space: Space, n: int = 64, seed: int = 0):
        require_positive("n", n)
        super().__init__(islice(_designs(space, n, seed), n))


def _designs(space: Space, n: int, seed: int) -> Iterator[Assignment]:
    seen: set[str] = set()
    repeated = 0
    for design in _points(space, n, seed):
        name = identity(design)
        if name in seen or not space.allows(design):
            repeated += 1
            if repeated == REPEATED:
                break
            continue
        repeated = 0
        seen.add(name)
        yield design
    rest = space.shuffled(random.Random(f"{seed} sobol"))
    yield from (design for design in rest if identity(design) not in seen)


def _points(space: Space, n: int, seed: int) -> Iterator[Assignment]:
    """The designs of all points of the sequence, repeats among them."""
    from scipy.stats import qmc  # takes a second to import

    keys = sorted({d.key for d in space.dimensions})
    sequence = qmc.Sobol(len(keys) + 1, rng=seed)
    start = (n - 1).bit_length()
    for power in chain([start], count(start)):  # blocks of a sequence have 2^k points
        for first, *shares in sequence.random_base2(power):
            yield _design(space, first, dict(zip(keys, map(float, shares), strict=True)))


def _design(space: Space, first: float, shares: dict[str, float]) -> Assignment:
    cell = _cell(space.cells, first)
    values: dict[str, object] = {}
    for axis in cell.axes:
        values |= axis.at(shares[axis.keys[0]])
    part = space.parts[cell.part]
    return {d.key: values[d.key] for d in part.dimensions if d.key in values}


def _cell(cells: Sequence[Cell], share: float) -> Cell:
    index = int(share * sum(cell.rows for cell in cells))
    for cell in cells:
        if index < cell.rows:
            return cell
        index -= cell.rows
    return cells[-1]
