"""Strict, frozen config classes, and the one line for each way to get them wrong."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_serializer, model_validator

from gymspace.errors import ConfigError

Scalar = bool | int | float | str | None


class Frozen(BaseModel):
    """Strict, closed, immutable: True is not 1, '2' is not 2, nan and unknown keys are errors."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )


class Component(Frozen):
    """What fills a slot: a name from the slot's table or `module:attr`, with sorted arguments."""

    name: str
    args: tuple[tuple[str, Scalar | tuple[Scalar, ...]], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_config(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if not isinstance(value, Mapping) or "name" not in value:
            raise ValueError("is neither a name nor {name: ..., argument: ...}")
        args = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items() if k != "name"}
        return {"name": value["name"], "args": tuple(sorted(args.items(), key=str))}

    @model_serializer
    def _to_config(self) -> Any:
        return {"name": self.name, **dict(self.args)} if self.args else self.name

    def __eq__(self, other: object) -> bool:
        # By repr: in Python 1, 1.0 and True are equal, but as arguments they are not.
        return isinstance(other, Component) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def label(self) -> str:
        """The component as a table cell: ``gat`` or ``gat(heads=4)``."""
        inner = ", ".join(f"{name}={value}" for name, value in self.args)
        return f"{self.name}({inner})" if inner else self.name

    @property
    def short(self) -> str:
        """The name alone, without the module of a `module:attr`."""
        return self.name.rpartition(":")[2]


Spec = TypeVar("Spec", bound=Frozen)


def validate(kind: type[Spec], config: Mapping[str, Any]) -> Spec:
    """``config`` as the pydantic class ``kind``; its first fault is raised as `ConfigError`."""
    try:
        return kind.model_validate(config)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
        raise _config_error(kind, first) from error


def keys(kind: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every dotted key of a spec class, groups before their members left out."""
    for name, field in kind.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Frozen) and inner is not Component:
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


_PROBLEMS = MappingProxyType(
    {
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "bool_type": "must be true or false",
        "string_type": "must be a string",
        "tuple_type": "must be a list",
        "finite_number": "must be finite",
        "model_type": "must be a group of keys",
    }
)


def _config_error(kind: type[BaseModel], fault: Mapping[str, Any]) -> ConfigError:
    loc, value = [str(part) for part in fault["loc"]], fault["input"]
    key = ".".join(loc)
    if fault["type"] == "extra_forbidden":
        return unknown_key(key, kind)
    if "args" in loc:
        key = ".".join(loc[: loc.index("args")])
        return ConfigError(
            key, "an argument must be a scalar (no nan, no inf) or a list of such", value=value
        )
    if fault["type"] == "literal_error":
        choices = [
            choice.strip("'")
            for choice in fault["ctx"]["expected"].replace(" or ", ", ").split(", ")
        ]
        return ConfigError(key, "unknown choice", value=value, choices=choices)
    problem = _PROBLEMS.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    problem = problem.replace("Input should be", "must be")
    if isinstance(value, bool):
        problem += " (YAML reads yes, no, on and off as true and false: quote a name like those)"
    elif isinstance(value, str) and fault["type"] in ("int_type", "float_type"):
        number = int if fault["type"] == "int_type" else float
        problem += f", not text{_number_hint(value, number)}"
    return ConfigError(key, problem, value=value)


def _number_hint(text: str, number: type[int] | type[float]) -> str:
    try:
        return f" (write it as {number(text)})"
    except ValueError:
        return ""


def unknown_key(key: str, *kinds: type[BaseModel]) -> ConfigError:
    """The error for a ``key`` that none of the spec classes has."""
    known = [key for kind in kinds for key in keys(kind)]
    parts = [key.split(".") for key in known]
    prefixes = dict.fromkeys(".".join(p[:n]) for p in parts for n in range(1, len(p) + 1))
    parent, _, name = key.rpartition(".")
    siblings = [k for k in prefixes if k.rpartition(".")[0] == parent]
    last = {k.rpartition(".")[2]: k for k in (*known, *siblings)}
    close = get_close_matches(name, last, n=1)
    near = last[close[0]] if close else key
    choices = siblings if near in (key, *siblings) else [*siblings, near]
    return ConfigError(key, "unknown key", choices=choices, near=near)
