"""Columns of labels and of splits as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gymspace.graph.folder.columns import MASKS
from gymspace.graph.folder.numbers import Numbers, numbers
from gymspace.graph.folder.problems import Problems
from gymspace.graph.folder.reading import Table
from gymspace.graph.rows import PARTS

_PARTS = MappingProxyType({**{part: part for part in PARTS}, "valid": "val", "validation": "val"})
_YES_NO = MappingProxyType({"true": True, "1": True, "false": False, "0": False})


@dataclass(frozen=True, eq=False)
class Labels:
    """Class ids int64 [R], -1 where there is none, with their ``names``; or float32 [R] or [R, T].

    Numbers are nan where there is none.
    """

    values: np.ndarray
    names: tuple[str, ...] = ()


def labels(table: Table, names: Sequence[str], task: str | None, problems: Problems) -> Labels:
    """The labels in the columns ``names`` of ``table``: one of classes or numbers, or several."""
    found = {name: numbers(table.text[name]) for name in names}
    if len(names) == 1 and task != "regression" and not _is_decimal(found[names[0]], task):
        return _classes(table, names[0], found[names[0]], problems)
    for name, column in found.items():
        bad = np.flatnonzero(column.odd | np.isinf(column.values))
        _tell(table, name, bad, "not a number", problems)
        if len(column.values) and not len(bad) and np.isnan(column.values).all():
            problems.add(table.path, f"'{name}' is empty in every row: there is nothing to learn")
    values = np.stack([column.values for column in found.values()], axis=1).astype(np.float32)
    return Labels(values[:, 0] if len(names) == 1 else values)


def _is_decimal(column: Numbers, task: str | None) -> bool:
    """Whether labels are numbers with something behind the point, so no classes."""
    known = column.values[np.isfinite(column.values)]
    return task is None and bool((known != np.floor(known)).any())


def _classes(table: Table, name: str, column: Numbers, problems: Problems) -> Labels:
    """Names of classes, or whole numbers from 0 on."""
    known = np.isfinite(column.values)
    if column.odd.any() and known.any():  # the fewer are the odd ones
        names_are_odd = column.odd.sum() <= known.sum()
        what = "neither a class id nor a number" if names_are_odd else "no name of a class"
        rows = np.flatnonzero(column.odd if names_are_odd else known)
        _tell(table, name, rows, f"{what}, as the others are", problems)
        return Labels(np.full(table.rows, -1))
    if column.odd.any():
        return _named(table.text[name])
    odd = np.isinf(column.values) | (known & (column.values != np.floor(column.values)))
    negative = known & (column.values < 0)
    _tell(table, name, np.flatnonzero(odd), "no class id", problems)
    hint = "no class id: leave the cell empty where there is no label"
    _tell(table, name, np.flatnonzero(negative & ~odd), hint, problems)
    ids = np.where(known & ~odd & ~negative, column.values, -1).astype(np.int64)
    if text := _gap(ids):
        problems.add(table.path, f"'{name}' {text}")
    return Labels(ids)


def _named(column: pa.ChunkedArray) -> Labels:
    names = sorted(pc.unique(column.drop_null()).to_pylist())
    ids = pc.fill_null(pc.index_in(column, value_set=pa.array(names, column.type)), -1)
    return Labels(np.asarray(ids, dtype=np.int64), tuple(names))


def _gap(ids: np.ndarray) -> str | None:
    """What is wrong with class ids as a whole."""
    known = np.unique(ids[ids >= 0])
    if not len(known):
        return "is empty in every row: there is nothing to learn" if len(ids) else None
    missing = np.flatnonzero(known != np.arange(len(known)))
    if not len(missing):
        return None
    span = f"has class ids from {known[0]} to {known[-1]} without {missing[0]}"
    return f"{span}: number them from 0 on; numbers to predict are dataset.task=regression"


def _tell(table: Table, name: str, rows: np.ndarray, what: str, problems: Problems) -> None:
    table.tell(rows, lambda row: f"'{name}' is {table.cell(name, row)}, {what}", problems)


def masks(table: Table, names: Sequence[str], problems: Problems) -> dict[str, np.ndarray]:
    """Bool masks [R] of a ``split`` or of ``train_mask`` and the others, [R, F] of F splits."""
    given = [name for name in names if name in MASKS]
    splits = [name for name in names if name not in MASKS]
    if given and splits:
        problems.add(table.path, f"has both '{splits[0]}' and '{given[0]}': one says the split")
        return {}
    if given:
        return _from_masks(table, given, problems)
    parts = [_part(table, name, problems) for name in splits]
    whole = np.stack(parts, axis=1) if len(parts) > 1 else parts[0] if parts else None
    return {} if whole is None else {f"{p}_mask": whole == n for n, p in enumerate(PARTS)}


def _part(table: Table, name: str, problems: Problems) -> np.ndarray:
    """The number of each row's part [R], -1 where there is none."""
    known = list(_PARTS)
    column = pc.utf8_lower(table.text[name])
    place = pc.index_in(column, value_set=pa.array(known, column.type))
    odd = np.flatnonzero(np.asarray(pc.and_(pc.is_null(place), pc.is_valid(column))))

    def text(row: int) -> str:
        close = get_close_matches(str(table.text[name][row]), known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"'{name}' is {table.cell(name, row)}, not train, val, test or empty{hint}"

    table.tell(odd, text, problems)
    numbers_of = np.array([PARTS.index(_PARTS[word]) for word in known] + [-1])
    return numbers_of[np.asarray(pc.fill_null(place, -1))]


def _from_masks(table: Table, names: Sequence[str], problems: Problems) -> dict[str, np.ndarray]:
    found = {name: _mask(table, name, problems) for name in names}
    absent = [name for name in MASKS if name not in found]
    if absent:
        problems.add(table.path, f"has '{names[0]}' and no '{absent[0]}'")
    twice = np.flatnonzero(np.sum(list(found.values()), axis=0) > 1)

    def text(row: int) -> str:
        inside = [name for name in names if found[name][row]]
        return f"is in two splits, '{inside[0]}' and '{inside[1]}'"

    table.tell(twice, text, problems)
    return found


def _mask(table: Table, name: str, problems: Problems) -> np.ndarray:
    column: Any = pc.utf8_lower(table.text[name])
    place = pc.index_in(column, value_set=pa.array(list(_YES_NO), column.type))
    odd = np.flatnonzero(np.asarray(pc.and_(pc.is_null(place), pc.is_valid(column))))
    _tell(table, name, odd, "neither true nor false (1 or 0)", problems)
    return np.array([*_YES_NO.values(), False])[np.asarray(pc.fill_null(place, -1))]
