"""A space cut into cells: products of independent axes, so that designs can be counted and drawn.

A cell is one case of the conditions of one sub-space, less what earlier cells have. In it, keys
that are zipped or that a constraint ties together are one axis, whose rows are the combinations
that there are. A range without a step stands in its row as it is, and is drawn by value.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from gymspace.sweep.spaces.constraints import Constraint
from gymspace.sweep.spaces.dimension import Assignment, Dimension, Range, matches
from gymspace.sweep.spaces.subspace import Subspace

Row = tuple[Any, ...]
JOINT = 20_000  # rows of an axis that ties dimensions together
LISTED = 10_000  # numbers of a range that are rows


@dataclass(frozen=True)
class Axis:
    """Keys that move together, and the rows of values that they take."""

    keys: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def designs(self) -> int | None:
        """How many values it stands for; None if continuous."""
        sizes = [value.size for value in self.rows[0] if isinstance(value, Range)]
        return None if None in sizes else len(self.rows) * math.prod(n for n in sizes if n)

    def at(self, share: float) -> dict[str, Any]:
        """The values below which this ``share`` of all draws lies; 0 <= share < 1."""
        row = self.rows[int(share * len(self.rows))]
        values = (value.at(share) if isinstance(value, Range) else value for value in row)
        return dict(zip(self.keys, values, strict=True))


@dataclass(frozen=True)
class Cell:
    """The product of some axes, in the sub-space of number ``part``."""

    part: int
    axes: tuple[Axis, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The dimensions that exist in it."""
        return frozenset(key for axis in self.axes for key in axis.keys)

    @property
    def rows(self) -> int:
        """How many combinations of rows it has."""
        return math.prod(len(axis.rows) for axis in self.axes)

    @property
    def designs(self) -> int | None:
        """How many designs it has; None if an axis is continuous."""
        sizes = [axis.designs for axis in self.axes]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    def at(self, index: int) -> dict[str, Any]:
        """The combination of number ``index`` < ``rows``; ranges stand in it as they are."""
        found: dict[str, Any] = {}
        for axis in self.axes:
            index, row = divmod(index, len(axis.rows))
            found |= zip(axis.keys, axis.rows[row], strict=True)
        return found

    def meeting(
        self, constraint: Constraint, config: Callable[[Assignment], Mapping[str, Any]]
    ) -> "Cell | None":
        """What of this cell meets a constraint; None if nothing does.

        All of it where that cannot be told: with a range in it, or too many rows to try.
        """
        tied = [axis for axis in self.axes if any(_touch(axis, key) for key in constraint.keys)]
        if math.prod(len(axis.rows) for axis in tied) > JOINT:
            return self
        joint = _joined(tied)
        if any(isinstance(value, Range) for row in joint.rows for value in row):
            return self
        rows = tuple(
            row
            for row in joint.rows
            if constraint.holds(config(dict(zip(joint.keys, row, strict=True))))
        )
        rest = [axis for axis in self.axes if axis not in tied]
        return replace(self, axes=_ordered([*rest, replace(joint, rows=rows)])) if rows else None


def _touch(axis: Axis, key: str) -> bool:
    """Whether a key's value depends on an axis: itself, its component, or an argument of it."""
    return any(f"{key}.".startswith(f"{k}.") or k.startswith(f"{key}.") for k in axis.keys)


def _joined(axes: Sequence[Axis]) -> Axis:
    keys = tuple(key for axis in axes for key in axis.keys)
    rows = product(*(axis.rows for axis in axes))
    return Axis(keys, tuple(tuple(v for row in rows_ for v in row) for rows_ in rows))


def disjoint(parts: Sequence[Subspace]) -> list[Cell]:
    """Cells that together have every design of the union of ``parts`` once."""
    found: list[Cell] = []
    for number, part in enumerate(parts):
        cases = [_ordered(axes) for axes in _cases(part, 0, {}, ())]
        for axes in sorted(cases, key=lambda axes: name_of([(a.keys, a.rows) for a in axes])):
            pieces = [axes]
            for cell in found:
                pieces = [left for piece in pieces for left in _without(piece, cell.axes)]
            found += [Cell(number, piece) for piece in pieces]
    return found


def _ordered(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """In the order of keys, so that a draw does not depend on how a space is written down."""
    return tuple(sorted((axis for axis in axes if axis.keys), key=lambda axis: min(axis.keys)))


def _cases(
    part: Subspace, depth: int, found: Mapping[str, Any], axes: tuple[Axis, ...]
) -> Iterator[tuple[Axis, ...]]:
    """The axes of every case of the conditions; ``found`` has one choice of every dimension."""
    if depth == len(part.dimensions):
        yield axes
        return
    d = part.dimensions[depth]
    if not d.active(found):
        yield from _cases(part, depth + 1, found, axes)
    elif d.zipped is not None:
        leader = part.by_key[d.zipped]
        place = next(i for i, axis in enumerate(axes) if leader.key in axis.keys)
        axis = axes[place]
        at = axis.keys.index(leader.key)
        rows = tuple((*row, d.choices[leader.index(row[at])]) for row in axis.rows)
        longer = (*axes[:place], Axis((*axis.keys, d.key), rows), *axes[place + 1 :])
        value = d.choices[leader.index(found[leader.key])]
        yield from _cases(part, depth + 1, {**found, d.key: value}, longer)
    else:
        for rows in _told_apart(part, d):
            case = {**found, d.key: rows[0][0]}
            yield from _cases(part, depth + 1, case, (*axes, Axis((d.key,), rows)))


def _told_apart(part: Subspace, d: Dimension) -> list[tuple[Row, ...]]:
    """The values of ``d`` in groups that all conditions of the sub-space take as one."""
    if d.range is not None and (d.range.log or (d.size or LISTED + 1) > LISTED):
        return [((d.range,),)]
    followers = [other for other in part.dimensions if other.zipped == d.key]
    groups: dict[tuple[bool, ...], list[Row]] = {}
    for index, value in enumerate(d.values):
        values = {d.key: value, **{f.key: f.choices[index] for f in followers}}
        signature = tuple(
            any(matches(values[key], wanted) for wanted in wanteds)
            for other in sorted(part.dimensions, key=lambda other: other.key)
            for key, wanteds in other.when
            if key in values
        )
        groups.setdefault(signature, []).append((value,))
    return [tuple(rows) for _, rows in sorted(groups.items())]


def _without(axes: tuple[Axis, ...], other: tuple[Axis, ...]) -> Iterator[tuple[Axis, ...]]:
    """Disjoint products that together are ``axes`` less ``other``."""
    if {k for axis in axes for k in axis.keys} != {k for axis in other for k in axis.keys}:
        yield axes
        return
    axes, other = _aligned(axes, other)
    common: list[Axis] = []
    for place, (mine, theirs) in enumerate(zip(axes, other, strict=True)):
        there = {name_of(row) for row in theirs.rows}
        both = tuple(row for row in mine.rows if name_of(row) in there)
        only = tuple(row for row in mine.rows if name_of(row) not in there)
        if only:
            yield (*common, replace(mine, rows=only), *axes[place + 1 :])
        if not both:
            return
        common.append(replace(mine, rows=both))


def _aligned(
    axes: tuple[Axis, ...], other: tuple[Axis, ...]
) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Both with the same keys axis by axis; what is tied in one of them is joined in both."""
    alike = {axis.keys for axis in axes} & {axis.keys for axis in other}
    aligned = []
    for whole in (axes, other):
        tied = _joined([axis for axis in whole if axis.keys not in alike])
        order = sorted(range(len(tied.keys)), key=lambda i: tied.keys[i])
        rows = tuple(tuple(row[i] for i in order) for row in tied.rows)
        rest = [axis for axis in whole if axis.keys in alike]
        joint = [Axis(tuple(tied.keys[i] for i in order), rows)] if order else []
        aligned.append(_ordered([*rest, *joint]))
    return aligned[0], aligned[1]


def name_of(values: Any) -> str:
    """What equal values have in common, ranges among them."""
    return json.dumps(values, sort_keys=True, default=repr)
