"""Values of design choices as table cells: typed, sortable, and restored exactly from CSV text."""

import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any


class Null(Enum):
    """The choice ``null``: a level like any other, while None is an empty cell ("has no such key").

    It equals only itself and sorts before everything, so that a pandas group-by keeps it.
    """

    NULL = "null"

    def __str__(self) -> str:
        return "null"

    def __lt__(self, other: Any) -> bool:
        return other is not self

    def __gt__(self, other: Any) -> bool:
        return False


NULL = Null.NULL
Cell = bool | int | float | str | tuple | Null | None

_INTEGER = re.compile(r"-?\d{1,4000}")  # Python converts no more digits than that
_LITERALS: Mapping[str, Cell] = {"null": NULL, "true": True, "false": False}
# Text that readers of CSV, pandas above all, take for a missing or a truth value.
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "None", "NULL", "nan", "NaN", "-nan")
_WORDS = frozenset((*_MISSING, "-NaN", "True", "TRUE", "False", "FALSE"))


def level(value: Any) -> Cell:
    """The cell of a config value: null becomes `NULL`, a list a tuple, a component its label."""
    if value is None:
        return NULL
    if isinstance(value, list | tuple):
        return tuple(level(part) for part in value)
    if isinstance(value, Mapping):
        return label(value)
    return value


def label(component: Mapping[str, Any]) -> str:
    """A component as text, ``gat(heads=4)``; arguments are sorted, and written as cells."""
    args = sorted((name, to_text(level(arg))) for name, arg in component.items() if name != "name")
    inner = ", ".join(f"{name}={text}" for name, text in args)
    name = str(component.get("name", ""))
    return f"{name}({inner})" if inner else name


def to_text(cell: Cell) -> str:
    """Write a cell for CSV; text that would read back as something else is JSON-quoted."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return json.dumps(cell) if _misleads(cell) else cell
    if isinstance(cell, tuple):
        return json.dumps(_plain(cell))
    return repr(cell) if type(cell) in (int, float) else str(cell).lower()


def from_text(text: str) -> Cell:
    """Read a cell that `to_text` wrote."""
    if not text or text in _LITERALS:
        return _LITERALS.get(text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if text[0] in '"[':
        return _from_json(text)
    try:
        return float(text)
    except ValueError:
        return text


def order(cell: Cell) -> tuple:
    """Sort key over cells of any types: empty, null, truth values, numbers, text, lists."""
    if cell is None:
        return (0,)
    if cell is NULL:
        return (1,)
    if isinstance(cell, bool):
        return (2, cell)
    if isinstance(cell, int | float):
        return (3, cell)
    return (4, cell) if isinstance(cell, str) else (5, to_text(cell))


def _misleads(text: str) -> bool:
    odd = text in _WORDS or text != text.strip() or not text.isprintable()
    return odd or from_text(text) is not text


def _plain(cell: Cell) -> Any:
    if isinstance(cell, tuple):
        return [_plain(part) for part in cell]
    return None if cell is NULL else cell


def _from_json(text: str) -> Cell:
    try:
        return level(json.loads(text))
    except ValueError:
        return text
