"""The config reference: every key of the spec with its type and default, explained by conf/."""

import json
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from gymspace.schema import Component, Frozen
from gymspace.spec import TrialSpec
from gymspace.sweep.settings import Settings
from gymspace.tables import TABLES

_LINE = re.compile(r"( *)(?:- )?([\w.]+):(?: |$)[^#]*(?:# (.*))?")
_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_TYPES = {bool: "true or false", int: "whole number", float: "number", str: "text"}
_HEAD = """# Config

Every key, from the code that checks it. `python -m gymspace --cfg job` prints what a command would
run; a key is set as in `python -m gymspace model.layers_mp=4`, and with `-m` several values, as in
`model.layers_mp=2,4,6`, make it a dimension. A *component* is a name of a table or a `module:attr`,
with arguments if it takes some: `model.layer={name: gat, heads: 4}`; see [the names](names.md).

Keys marked with ◦ are in no id: two trials that differ in nothing else are the same trial.
"""


def config_page(yaml: str) -> str:
    """The page; ``yaml`` is conf/config.yaml, whose comments say what a key means."""
    meanings = comments(yaml)
    parts = [_HEAD]
    for kind in (TrialSpec, Settings):
        parts.append(_table(kind, "", meanings))
        for name, field in kind.model_fields.items():
            if group := _group(field):
                about = (group.__doc__ or "").splitlines()[0]
                parts += [f"## {name}\n\n{about}\n", _table(group, f"{name}.", meanings)]
        if kind is TrialSpec:
            parts.append("## Settings of a command\n\nNone of them is part of any id.\n")
    return "\n".join(parts)


def comments(yaml: str) -> dict[str, str]:
    """The comment behind each key of a YAML text, by dotted key."""
    found: dict[str, str] = {}
    path: list[str] = []
    for match in filter(None, map(_LINE.match, yaml.splitlines())):
        indent, name, comment = match.groups()
        path[len(indent) // 2 :] = [name]
        if comment:
            found[".".join(path).removeprefix("defaults.")] = comment
    return found


def _table(kind: type[Frozen], prefix: str, meanings: Mapping[str, str]) -> str:
    rows = list(_rows(kind, prefix, meanings))
    return "\n".join(["| key | default | values | |", "| --- | --- | --- | --- |", *rows, ""])


def _rows(kind: type[Frozen], prefix: str, meanings: Mapping[str, str]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        if _group(field):
            continue
        key = f"{prefix}{name}"
        outside = kind is Settings or prefix == "sweep."
        outside |= any(key == out or key.startswith(f"{out}.") for out in TrialSpec.NOT_IN_ID)
        mark = " ◦" if outside else ""
        default = f"`{_plain(field.default)}`"
        meaning = meanings.get(key, "").replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{key}`{mark} | {default} | {_values(key, field)} | {meaning} |"


def _group(field: FieldInfo) -> type[Frozen] | None:
    kind = field.annotation
    is_group = isinstance(kind, type) and issubclass(kind, Frozen) and kind is not Component
    return kind if is_group else None


def _plain(value: Any) -> str:
    if isinstance(value, Component):
        return value.label
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def _values(key: str, field: FieldInfo) -> str:
    words = [_type(key, field.annotation)]
    for limit in field.metadata:
        words += [
            f"{word} {_number(value)}"
            for name, word in _LIMITS.items()
            if (value := getattr(limit, name, None)) is not None
        ]
    return ", ".join(words)


def _number(value: float) -> str:
    return f"{value:g}" if value < 2**53 else f"2^{int(value).bit_length() - 1}"


def _type(key: str, kind: Any) -> str:
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_type(key, part) for part in get_args(kind))
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return f"list: {_type(key, get_args(kind)[0])}"
    if kind is Component:
        return f"[component](names.md#{anchor(key)})"
    if kind is type(None):
        return "null"
    return _TYPES.get(kind, "mapping")


def anchor(key: str) -> str:
    """The heading of a slot's table on the page of names."""
    assert key in TABLES
    return key.replace(".", "")
