"""A sub-space: dimensions that depend on each other, and the designs they make."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.dimension import Assignment, Dimension


def identity(assignment: Assignment) -> str:
    """What two equal assignments have in common; 1, 1.0 and True are three."""
    return json.dumps(assignment, sort_keys=True)


@dataclass(frozen=True)
class Subspace:
    """Dimensions in an order in which a condition's key comes before the dimension that has it.

    Raises:
        ConfigError: a condition or a `with` on a key that comes later or not at all, or a `with`
            of another number of choices.
    """

    dimensions: tuple[Dimension, ...] = ()

    def __post_init__(self) -> None:
        seen: dict[str, Dimension] = {}
        for d in self.dimensions:
            for key in sorted(d.needs - seen.keys()):
                word = "with" if key == d.zipped else "when"
                others = [other.key for other in self.dimensions if other is not d]
                at = f"sweep.space.{d.key}.{word}"
                raise ConfigError(at, "is no dimension", value=key, choices=others)
            leader = seen[d.zipped] if d.zipped else d
            if len(leader.choices) != len(d.choices):
                problem = f"has {len(leader.choices)} choices, not {len(d.choices)} as this one"
                raise ConfigError(f"sweep.space.{d.key}.with", problem, value=d.zipped)
            if leader is not d and leader.zipped:
                problem = f"goes with {leader.zipped} itself: name that one"
                raise ConfigError(f"sweep.space.{d.key}.with", problem, value=d.zipped)
            for other in (seen[key] for key, _ in d.when):
                if other.range is not None and other.range.step is None:
                    problem = "is a range without a step, whose values are not known beforehand"
                    raise ConfigError(f"sweep.space.{d.key}.when", problem, value=other.key)
            seen[d.key] = d

    @cached_property
    def by_key(self) -> Mapping[str, Dimension]:
        """Dimensions by their keys."""
        return {d.key: d for d in self.dimensions}

    def build(self, choose: Callable[[Dimension], Any]) -> dict[str, Any]:
        """A design of this sub-space: ``choose`` is asked for each dimension that exists in it.

        Those that are zipped with another are not asked for.
        """
        found: dict[str, Any] = {}
        for d in self.dimensions:
            if not d.active(found):
                continue
            if d.zipped is None:
                found[d.key] = choose(d)
            else:
                found[d.key] = d.choices[self.by_key[d.zipped].index(found[d.zipped])]
        return found

    def holds(self, assignment: Assignment) -> bool:
        """Whether ``assignment`` is a design of this sub-space, whatever the constraints."""
        try:
            built = self.build(lambda d: assignment[d.key])
        except (KeyError, ValueError):
            return False
        return identity(built) == identity(assignment) and all(
            value in self.by_key[key] for key, value in built.items()
        )

    def designs(self) -> Iterator[dict[str, Any]]:
        """Every design; the last dimension varies fastest.

        Raises:
            ConfigError: a dimension is continuous.
        """
        for d in self.dimensions:
            if d.size is None:
                problem = "is a continuous range: give it choices or a step, or another sweep.draw"
                raise ConfigError(f"sweep.space.{d.key}", problem)
        return self._below({}, 0)

    def _below(self, found: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
        if depth == len(self.dimensions):
            yield found
            return
        d = self.dimensions[depth]
        values = d.values
        if not d.active(found):
            yield from self._below(found, depth + 1)
            return
        if d.zipped is not None:
            values = [d.choices[self.by_key[d.zipped].index(found[d.zipped])]]
        for value in values:
            yield from self._below({**found, d.key: value}, depth + 1)
