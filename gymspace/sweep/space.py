"""The space of a sweep: its dimensions, their choices, and what a command line makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from gymspace.errors import ConfigError

Assignment = Mapping[str, Any]
REPEATS = MappingProxyType({"seed": "sweep.seeds", "fold": "sweep.folds"})


@dataclass(frozen=True)
class Dimension:
    """A swept config key with its choices; ``alias`` names its column in GraphGym's tables."""

    key: str
    choices: tuple[Any, ...]
    alias: str | None = None

    def __post_init__(self) -> None:
        if self.key in REPEATS:
            raise ConfigError(
                f"sweep.space.{self.key}", f"is a repeat, not a dimension: set {REPEATS[self.key]}"
            )
        if not self.choices:
            raise ConfigError(f"sweep.space.{self.key}", "has no choices")
        for index, choice in enumerate(self.choices):
            if any(_same(choice, other) for other in self.choices[:index]):
                raise ConfigError(f"sweep.space.{self.key}", "is given twice", value=choice)


def _same(one: Any, other: Any) -> bool:
    """Equal and of one type: True is not 1, though Python says so."""
    return type(one) is type(other) and one == other


def parse_space(raw: Mapping[str, Any]) -> tuple[Dimension, ...]:
    """Dimensions from ``key: [choices]`` or ``key: {choices: [...], alias: name}``.

    Raises:
        ConfigError: no choices, a choice given twice, something else than a list.
    """
    return tuple(_dimension(key, value) for key, value in raw.items())


def _dimension(key: str, value: Any) -> Dimension:
    full = isinstance(value, Mapping) and "choices" in value
    rest = set(value) - {"choices", "alias"} if full else set()
    if rest:
        raise ConfigError(f"sweep.space.{key}", f"has unknown keys {sorted(rest)}", value=value)
    choices = value["choices"] if full else value
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        raise ConfigError(f"sweep.space.{key}", "must be a list of choices", value=choices)
    alias = value.get("alias") if full else None
    if not isinstance(alias, str | None):
        raise ConfigError(f"sweep.space.{key}.alias", "must be a name", value=alias)
    return Dimension(key, tuple(choices), alias)


def override(
    space: Sequence[Dimension], given: Mapping[str, Sequence[Any]]
) -> tuple[Dimension, ...]:
    """The space after a command line: its choices replace a dimension's, a new key adds one."""
    narrowed = [replace(d, choices=tuple(given.get(d.key, d.choices))) for d in space]
    known = {d.key for d in space}
    added = [Dimension(k, tuple(c)) for k, c in given.items() if k not in known]
    return (*narrowed, *added)
