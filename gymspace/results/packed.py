"""Rows of JSON values as columns of JSON, small and quick to read, each value exactly as it was."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gymspace.results.cells import Cell, from_text, to_text
from gymspace.results.names import TEXT
from gymspace.results.tables import Row, Table

_NUMBERS = ({float}, {int}, {float, type(None)}, {int, type(None)})


@dataclass(frozen=True)
class Later(Sequence):
    """A sequence of known ``size`` that is made when one of its items is first asked for."""

    size: int
    make: Callable[[], Sequence[Any]]

    @cached_property
    def items(self) -> Sequence[Any]:
        """All of it."""
        return self.make()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: Any) -> Any:
        return self.items[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


def pack(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Pack rows: for each set of keys that rows have, where these rows are and their columns."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(tuple(row), []).append(at)
    return [
        [keys, at, [_column([rows[i][key] for i in at]) for key in keys]]
        for keys, at in groups.items()
    ]


def unpack(packed: Sequence[Any]) -> list[dict[str, Any]]:
    """The rows that `pack` was given; equal values that are no numbers are the same object."""
    rows: list[dict[str, Any]] = [{} for _ in range(sum(len(at) for _, at, _ in packed))]
    for keys, at, columns in (group for group in packed if group[0]):
        for i, values in zip(at, zip(*map(_values, columns), strict=True), strict=True):
            rows[i] = dict(zip(keys, values, strict=True))
    return rows


def pack_table(table: Table) -> list[Any]:
    """Pack the rows of a table, with cells that are more than JSON knows.

    Rows may have more than the table's columns.
    """
    packed = []
    for name in dict.fromkeys([*table.columns, *(key for row in table.rows for key in row)]):
        cells = [row.get(name) for row in table.rows]
        plain = name in TEXT or set(map(type, cells)) in _NUMBERS
        column = _column(cells if plain else [to_text(cell) for cell in cells])
        packed.append([name, plain, column])
    return packed


def unpack_table(packed: Sequence[Any]) -> list[Row]:
    """The rows of a table as `pack_table` was given it; what a row lacked it has as None."""
    names = [name for name, _, _ in packed]
    cells = [_values(column) if plain else _cells(column) for _, plain, column in packed]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _column(values: Sequence[Any]) -> list[Any]:
    """Levels and a code for each value; for numbers no levels and the values themselves."""
    if set(map(type, values)) in _NUMBERS:
        return [None, list(values)]
    codes: dict[Any, int] = {}
    levels: list[Any] = []
    coded = []
    for value in values:
        key = id(value) if isinstance(value, dict | list) else (type(value), value)
        if key not in codes:
            codes[key] = len(levels)
            levels.append(value)
        coded.append(codes[key])
    return [levels, coded]


def _values(column: Sequence[Any]) -> list[Any]:
    levels, codes = column
    return codes if levels is None else [levels[code] for code in codes]


def _cells(column: Sequence[Any]) -> list[Cell]:
    levels, codes = column
    return _values([[from_text(level) for level in levels], codes])
