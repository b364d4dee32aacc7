"""Choosing and sorting rows of a table by what a user typed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from gymspace.errors import ConfigError
from gymspace.results.cells import Cell, from_text, order, to_text
from gymspace.results.names import TEXT
from gymspace.results.tables import Row

_CONDITION = re.compile(r"\s*(.+?)\s*(<=|>=|!=|==?|<|>)\s*(.*?)\s*")
_COMPARE = {"<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True)
class Condition:
    """One ``--where``: a column compared with a value."""

    column: str
    sign: str
    value: Cell

    def holds(self, row: Row) -> bool:
        """Whether ``row`` meets the condition; a cell that is no number is not < or > a number."""
        own, asked = order(row.get(self.column)), order(self.value)
        if self.sign in ("=", "==", "!="):
            return (own == asked) != (self.sign == "!=")
        return own[0] == asked[0] and _COMPARE[self.sign](own, asked)


def condition(text: str, columns: Mapping[str, str]) -> Condition:
    """Read ``column=value`` (or !=, <, <=, >, >=); ``columns`` maps what may be typed to columns.

    Raises:
        ConfigError: no such form, no such column, or < and its like with something not a number.
    """
    found = _CONDITION.fullmatch(text)
    if not found:
        raise ConfigError("--where", "is not COLUMN=VALUE (nor with != < <= > >=)", value=text)
    name, sign, typed = found.groups()
    column = resolve("--where", name, columns)
    value = typed if column in TEXT else _value(typed)
    if sign in _COMPARE and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ConfigError("--where", f"{sign} needs a number on its right", value=text)
    return Condition(column, sign, value)


def select(rows: Sequence[Row], conditions: Iterable[Condition]) -> list[Row]:
    """The rows that meet every condition.

    Raises:
        ConfigError: none does.
    """
    kept = list(rows)
    for one in conditions:
        found = [row for row in kept if one.holds(row)]
        if kept and not found:
            asked = f"{one.column}{one.sign}{to_text(one.value)}"
            cells = {to_text(row.get(one.column)) or "(empty)" for row in kept}
            choices = sorted(cells) if len(cells) <= 12 else ()
            raise ConfigError(
                "--where", "matches nothing", value=asked, choices=choices, near=one.value
            )
        kept = found
    return kept


def sort(rows: Sequence[Row], column: str, descending: bool) -> list[Row]:
    """Rows by one column, empty cells last either way, otherwise in the order they came."""
    there = [row for row in rows if row.get(column) is not None]
    there.sort(key=lambda row: order(row[column]), reverse=descending)
    return there + [row for row in rows if row.get(column) is None]


def resolve(option: str, name: str, columns: Mapping[str, str]) -> str:
    """The column that ``name`` stands for.

    Raises:
        ConfigError: there is none.
    """
    if name not in columns:
        raise ConfigError(option, "no such column", value=name, choices=columns)
    return columns[name]


def _value(typed: str) -> Cell:
    word = typed.lower()
    return from_text(word if word in ("true", "false", "null") else typed)
