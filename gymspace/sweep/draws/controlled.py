"""Controlled random search: choices of one dimension compared with all else equal."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from gymspace.errors import ConfigError
from gymspace.sweep.draws.draw import Fixed, require_positive
from gymspace.sweep.spaces.cells import Cell
from gymspace.sweep.spaces.constraints import KEY
from gymspace.sweep.spaces.dimension import Assignment, Dimension
from gymspace.sweep.spaces.space import Space, Subspace, identity

Group = tuple[int, ...]
PATIENCE = 5_000  # settings in a row that a constraint leaves with a gap


class Controlled(Fixed):
    """The controlled random search of You, Ying & Leskovec (Design Space for GNNs, 2020).

    For each dimension ``n`` random settings of all others are drawn, or all there are, and for each
    setting every choice of the dimension. A design of several such groups is drawn once. A group
    that a constraint would leave with a gap is not drawn. What is zipped is one dimension; a range
    without a step has no choices to compare, and is drawn with the others.

    ``groups`` says by dimension which designs, by their place in this draw, belong together.

    Raises:
        ConfigError: ``n`` below 1, nothing to compare, constraints that leave no complete group.
    """

    def __init__(self, space: Space, n: int = 96, seed: int = 0):
        require_positive("n", n)
        places: dict[str, int] = {}
        designs: list[Assignment] = []
        groups: dict[str, tuple[Group, ...]] = {}
        for key in compared(space):
            found = []
            for group in _Groups(space, key, seed).first(n):
                for design in group:
                    if places.setdefault(identity(design), len(designs)) == len(designs):
                        designs.append(design)
                found.append(tuple(places[identity(design)] for design in group))
            groups[key] = tuple(found)
        self.groups: Mapping[str, tuple[Group, ...]] = groups
        super().__init__(designs)


def compared(space: Space) -> list[str]:
    """The keys whose choices can be compared.

    Raises:
        ConfigError: there are none.
    """
    found = (d.key for part in space.parts for d in part.dimensions if len(_choices(d)) > 1)
    keys = list(dict.fromkeys(found))
    if not keys:
        raise ConfigError("sweep.space", "has no dimension with choices to compare")
    return keys


def _choices(d: Dimension) -> tuple[Any, ...]:
    """What is compared of a dimension: nothing of one that follows another or has no step."""
    listed = d.zipped is None and (d.range is None or d.range.step is not None)
    return tuple(d.values) if listed else ()


class _Groups:
    """The groups of one dimension. Its random numbers are its own, whatever else is drawn."""

    def __init__(self, space: Space, key: str, seed: int):
        self._space, self._key, self._name = space, key, f"{seed} {key}"

    def first(self, n: int) -> Iterator[list[Assignment]]:
        """The first ``n`` complete groups of different settings, or all there are.

        Raises:
            ConfigError: there are none, or hardly any.
        """
        tried: set[str] = set()
        found = broken = 0
        for design in self._space.shuffled(random.Random(self._name), self._varies):
            part = self._space.parts[self._space.part_of(design)]
            group = self._group(part, design)
            setting = "".join(map(identity, group))
            if setting in tried or len(group) == 1:
                continue
            tried.add(setting)
            if all(map(self._space.allows, group)):
                yield group
                found, broken = found + 1, 0
            else:
                broken += 1
            if found == n or broken == PATIENCE:
                break
        if not found or broken == PATIENCE:
            problem = f"leave hardly a setting in which all choices of {self._key} are allowed"
            raise ConfigError(KEY, problem)

    def _varies(self, cell: Cell) -> bool:
        d = self._space.parts[cell.part].by_key.get(self._key)
        return self._key in cell.keys and d is not None and len(_choices(d)) > 1

    def _group(self, part: Subspace, design: Assignment) -> list[Assignment]:
        """``design`` with every choice of the dimension.

        What exists beside some of them only is drawn once for all of them.
        """
        rest = {d.key: design[d.key] for d in part.dimensions if d.key in design}
        rest = {k: v for k, v in rest.items() if self._key not in (k, part.by_key[k].zipped)}
        rng = random.Random(f"{self._name} {identity(rest)}")

        def build(choice: Any) -> Assignment:
            rest[self._key] = choice
            return part.build(lambda d: rest[d.key] if d.key in rest else fill(d))

        def fill(d: Dimension) -> Any:
            rest[d.key] = d.at(rng.random())
            return rest[d.key]

        return [build(choice) for choice in _choices(part.by_key[self._key])]
