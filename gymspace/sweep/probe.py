"""A few designs that meet every choice of a space, to find its mistakes before the first trial."""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from gymspace.sweep.spaces.dimension import Assignment, Dimension, matches
from gymspace.sweep.spaces.space import Space
from gymspace.sweep.spaces.subspace import Subspace

_TRIES = 1000


def probes(space: Space) -> Iterator[Assignment]:
    """Every choice of every dimension, of a range both ends; all else at its first value.

    Where a constraint does not allow that, all else is drawn at random. A choice that is met by no
    constraint in many draws is left out.
    """
    for part in space.parts:
        yield from _allowed(space, part, {})
        for dimension in part.dimensions:
            for value in () if dimension.zipped else _ends(dimension):
                yield from _allowed(space, part, {**_needed(dimension, part), dimension.key: value})


def _allowed(space: Space, part: Subspace, fixed: Mapping[str, Any]) -> Iterator[Assignment]:
    first = part.build(lambda dimension: fixed.get(dimension.key, _ends(dimension)[0]))
    if space.allows(first):
        yield first
        return
    drawn = islice(space.shuffled(random.Random(0)), _TRIES)
    yield from islice((d for d in drawn if all(d.get(k) == v for k, v in fixed.items())), 1)


def _ends(dimension: Dimension) -> Sequence[Any]:
    whole = dimension.range
    if whole is None:
        return dimension.choices
    if whole.size is None:
        return float(whole.low), float(whole.high)
    return whole.values[0], whole.values[-1]


def _needed(dimension: Dimension, part: Subspace) -> dict[str, Any]:
    """Values of other dimensions with which this one exists."""
    needed: dict[str, Any] = {}
    if dimension.zipped is not None:
        needed |= _needed(part.by_key[dimension.zipped], part)
    for key, wanted in dimension.when:
        other = part.by_key[key]
        met = (v for v in other.values if any(matches(v, one) for one in wanted))
        needed |= {**_needed(other, part), key: next(met, wanted[0])}
    return needed
