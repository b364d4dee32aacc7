"""A sub-space as it is written in YAML."""

from collections.abc import Mapping, Sequence
from typing import Any

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.dimension import Dimension, Range, matches
from gymspace.sweep.spaces.subspace import Subspace


def read_subspace(raw: Mapping[str, Any]) -> Subspace:
    """One sub-space as YAML has it.

    Raises:
        ConfigError: see `parse_space`.
    """
    part = Subspace(_sorted([_dimension(key, value) for key, value in raw.items()]))
    for d in part.dimensions:
        for key, values in d.when:
            given = part.by_key[key]
            for value in values:
                if not any(matches(choice, value) for choice in given.values):
                    raise ConfigError(
                        f"sweep.space.{d.key}.when.{key}",
                        "is no choice of that dimension",
                        value=value,
                        choices=given.values,
                    )
    return part


def _sorted(dimensions: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """As they were, but each after those that it depends on."""
    ready: list[Dimension] = []
    left = list(dimensions)
    while left:
        waiting = {d.key for d in left}
        following = next((d for d in left if not waiting & d.needs), None)
        if following is None:
            names = ", ".join(sorted(waiting))
            raise ConfigError(
                f"sweep.space.{left[0].key}", f"depends on itself, by when or with among {names}"
            )
        ready.append(following)
        left.remove(following)
    return tuple(ready)


_WORDS = ("choices", "alias", "low", "high", "log", "step", "when", "with")


def _dimension(key: str, value: Any) -> Dimension:
    at = f"sweep.space.{key}"
    if not (isinstance(value, Mapping) and value.keys() & {"choices", "low", "high"}):
        value = {"choices": value}
    if unknown := sorted(str(word) for word in value.keys() - set(_WORDS)):
        problem = f"has unknown keys {unknown}"
        raise ConfigError(at, problem, choices=_WORDS, near=unknown[0])
    if not isinstance(alias := value.get("alias"), str | None):
        raise ConfigError(f"{at}.alias", "must be a name", value=alias)
    if not isinstance(zipped := value.get("with"), str | None):
        raise ConfigError(f"{at}.with", "must be the key of another dimension", value=zipped)
    choices = value.get("choices", ())
    bounds = choices if isinstance(choices, Range) else None
    if value.keys() & {"low", "high", "log", "step"}:
        bounds = _range(at, value)
    choices = () if isinstance(choices, Range) else _choices(at, choices)
    return Dimension(key, choices, alias, bounds, _when(at, value.get("when")), zipped)


def _choices(at: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigError(at, "must be a list of choices", value=value)
    return tuple(value)


def _range(at: str, value: Mapping[str, Any]) -> Range:
    if missing := [word for word in ("low", "high") if word not in value]:
        raise ConfigError(at, f"is a range without {missing[0]}", value=dict(value))
    low, high, step, log = value["low"], value["high"], value.get("step"), value.get("log", False)
    if not isinstance(log, bool):
        raise ConfigError(f"{at}.log", "must be true or false", value=log)
    return Range.of(low, high, log=log, step=step)


def _when(at: str, value: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(f"{at}.when", "must be {other dimension: its value}", value=value)
    lists = {key: v if isinstance(v, list | tuple) else [v] for key, v in (value or {}).items()}
    return tuple((key, tuple(values)) for key, values in lists.items())
