"""The space of a sweep: a union of sub-spaces under constraints, and what a command narrows."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from gymspace.errors import ConfigError
from gymspace.spec import parse
from gymspace.spec import replace as replace_key
from gymspace.sweep.spaces.cells import Cell, disjoint
from gymspace.sweep.spaces.constraints import KEY, Constraint
from gymspace.sweep.spaces.dimension import Assignment, Dimension, Range, same
from gymspace.sweep.spaces.shuffle import shuffled
from gymspace.sweep.spaces.subspace import Subspace, identity
from gymspace.sweep.spaces.written import read_subspace

__all__ = ["Assignment", "Constraint", "Dimension", "Range", "Space", "Subspace", "identity"]


@dataclass(frozen=True)
class Space:
    """The union of sub-spaces, less what breaks a constraint; a design of two of them is one.

    ``base`` is the config of a design before its choices, which constraints look at.
    """

    parts: tuple[Subspace, ...] = (Subspace(),)
    constraints: tuple[Constraint, ...] = ()
    base: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, *dimensions: Dimension) -> "Space":
        """A single sub-space."""
        return cls((Subspace(dimensions),))

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Dimensions by key, their choices united over the sub-spaces."""
        merged: dict[str, Dimension] = {}
        for d in (d for part in self.parts for d in part.dimensions):
            known = merged.get(d.key)
            merged[d.key] = d if known is None else _united(known, d)
        return tuple(merged.values())

    @cached_property
    def size(self) -> int | None:
        """The number of designs; None if one of the dimensions is continuous.

        Constraints on parameters are not counted in, nor those over ranges or very many choices.
        """
        sizes = [cell.designs for cell in self.cells]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The space cut into products that have nothing in common.

        Raises:
            ConfigError: no design meets the constraints.
        """
        cells, settled = disjoint(self.parts), self._settled
        for constraint in settled:
            left = [
                cell
                for whole in cells
                if (cell := whole.meeting(constraint, self._config)) is not None
            ]
            if cells and not left:
                raise ConfigError(KEY, "is met by no design", value=constraint.text)
            cells = left
        return tuple(cells)

    @property
    def _settled(self) -> tuple[Constraint, ...]:
        return tuple(c for c in self.constraints if not c.needs_params)

    def _config(self, assignment: Assignment) -> Mapping[str, Any]:
        """The config of a design, as far as it is known without composing it."""
        config: Mapping[str, Any] = self.base
        for key in sorted(assignment, key=lambda key: key.count(".")):
            config = replace_key(config, key, assignment[key])
        return config

    def active(self, dimension: Dimension, assignment: Assignment) -> bool:
        """Whether ``dimension`` exists beside the choices of ``assignment``."""
        return dimension.active(assignment)

    def allows(self, assignment: Assignment) -> bool:
        """Whether the constraints hold that need no built design."""
        if not self._settled:
            return True
        config = self._config(assignment)
        return all(constraint.holds(config) for constraint in self._settled)

    def part_of(self, assignment: Assignment) -> int:
        """The number of the first sub-space that has this design.

        Raises:
            ValueError: none has it.
        """
        return [part.holds(assignment) for part in self.parts].index(True)

    def designs(self) -> Iterator[dict[str, Any]]:
        """Every design once, sub-space after sub-space, the last dimension varying fastest.

        Raises:
            ConfigError: a dimension is continuous.
        """
        return self._once([part.designs() for part in self.parts])

    def _once(self, parts: Sequence[Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        for design in chain(*parts):
            name = identity(design) if len(parts) > 1 else ""
            if name not in seen and self.allows(design):
                if name:
                    seen.add(name)
                yield design

    def shuffled(
        self, rng: random.Random, where: Callable[[Cell], bool] = lambda cell: True
    ) -> Iterator[dict[str, Any]]:
        """Designs of the cells ``where`` that holds, at random, none of them twice.

        Each is equally likely, where a range that has no step counts as one choice. Nothing is
        enumerated; it ends when there are no more.

        Raises:
            ConfigError: constraints that hardly any design meets.
        """
        cells = [cell for cell in self.cells if where(cell)]
        for part, values in shuffled(cells, rng, self.allows):
            yield {d.key: values[d.key] for d in self.parts[part].dimensions if d.key in values}


def _united(one: Dimension, other: Dimension) -> Dimension:
    """One dimension for tables: the choices of both, or a range around both."""
    alias = one.alias or other.alias
    if one.range is None and other.range is None:
        choices: list[Any] = []  # a dimension that moves with another may have one twice
        for choice in (*one.choices, *other.choices):
            if not any(same(choice, known) for known in choices):
                choices.append(choice)
        return replace(one, choices=tuple(choices), alias=alias, zipped=None)
    ranges = [d.range for d in (one, other) if d.range is not None]
    if len(ranges) == 1 or ranges[0] == ranges[1]:
        return Dimension(one.key, alias=alias, range=ranges[0])
    whole = Range(
        min(r.low for r in ranges),
        max(r.high for r in ranges),
        "float" if any(r.kind == "float" for r in ranges) else "int",
        log=all(r.log for r in ranges),
    )
    return Dimension(one.key, alias=alias, range=whole)


def parse_space(raw: Any) -> Space:
    """The space of ``key: [choices]``, ``key: {choices: ..., alias: name}``, ``key: {low: ...}``.

    A list of such mappings is their union.

    Raises:
        ConfigError: no choices, one given twice, a range that is none, an unknown or cyclic
            condition, something else than a list.
    """
    if isinstance(raw, Mapping) or raw is None:
        return Space((read_subspace(raw or {}),))
    if not isinstance(raw, list | tuple) or not all(isinstance(part, Mapping) for part in raw):
        raise ConfigError("sweep.space", "must be {key: choices}, or a list of such", value=raw)
    if not raw:
        raise ConfigError("sweep.space", "is a union of nothing")
    return Space(tuple(read_subspace(part) for part in raw))


def override(space: Space, given: Mapping[str, Sequence[Any] | Range]) -> Space:
    """The space after a command line: its choices replace a dimension's, a new key adds one.

    What is new is added to every sub-space. What is zipped with a narrowed dimension is narrowed
    with it.

    Raises:
        ConfigError: choices that are none, or that do not go with a zipped dimension.
    """
    known = {d.key for d in space.dimensions}
    added = tuple(_given(Dimension(k, (None,)), v) for k, v in given.items() if k not in known)
    parts = tuple(Subspace((*_narrowed(part, given), *added)) for part in space.parts)
    return replace(space, parts=parts)


def _narrowed(part: Subspace, given: Mapping[str, Sequence[Any] | Range]) -> Iterator[Dimension]:
    for d in part.dimensions:
        leader = part.by_key.get(d.zipped or "")
        choices = given.get(d.key)
        if choices is not None:
            yield _given(d, choices)
        elif leader is not None and not isinstance(kept := given.get(leader.key, ()), Range):
            places = [leader.index(c) for c in kept if c in leader] if kept else None
            followed = d.choices if places is None else tuple(d.choices[i] for i in places)
            yield replace(d, choices=followed)
        else:
            yield d


def _given(d: Dimension, value: Sequence[Any] | Range) -> Dimension:
    if isinstance(value, Range):
        return replace(d, choices=(), range=value)
    return replace(d, choices=tuple(value), range=None)


def constrain(space: Space, texts: Sequence[str], base: Mapping[str, Any]) -> Space:
    """The space under constraints, which see the config ``base`` where a design has no choice.

    Raises:
        ConfigError: a constraint that cannot be read or that no design meets, a bad base.
    """
    if not texts:
        return space
    config = parse(base).model_dump(mode="json")
    known = {key for d in space.dimensions for key in (d.key, *_dotted(d.choices, d.key))}
    known |= set(_dotted([config], ""))
    constraints = tuple(Constraint.parse(text, known) for text in texts)
    constrained = replace(space, constraints=constraints, base=config)
    _ = constrained.cells  # where one that nothing meets is told
    return constrained


def _dotted(values: Sequence[Any], prefix: str) -> Iterator[str]:
    """The keys of all mappings among ``values``, and of those in them."""
    for name, inner in (item for v in values if isinstance(v, Mapping) for item in v.items()):
        key = f"{prefix}.{name}".lstrip(".")
        yield key
        yield from _dotted([inner], key)
