"""Columns of choices as integer codes: equal cells share a code, whatever types they mix."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from gymspace.results.cells import Cell, order, to_text

_CLASSES = 6  # more different floats are no classes
_LONG = 10  # characters; a longer float was drawn by chance


@dataclass(frozen=True)
class Levels:
    """A code per row, and the choice that each code stands for, in the order of `cells.order`.

    True, 1 (the number) and "True" are three choices; an empty cell (None, NaN, NA) is one too.
    """

    codes: np.ndarray
    values: tuple[Cell, ...]


def encode(column: pd.Series) -> Levels:
    """Code the cells of ``column``; the order of its rows changes no code's meaning."""
    empty = column.isna().to_numpy(dtype=bool)
    if column.dtype == object:
        cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in column]
        seen: dict[tuple, int] = {}
        keys = (order(None if gone else cell) for cell, gone in zip(cells, empty, strict=True))
        codes = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.int64, len(cells))
        first = np.unique(codes, return_index=True)[1]
        values = [None if empty[at] else cells[at] for at in first]
    else:
        codes, uniques = pd.factorize(column, use_na_sentinel=True)
        values = [*uniques.tolist(), *([None] if empty.any() else [])]
        codes = np.where(codes < 0, len(uniques), codes)
    ranked = sorted(range(len(values)), key=lambda at: order(values[at]))
    place = np.empty(len(values), np.int64)
    place[ranked] = np.arange(len(values))
    return Levels(place[codes], tuple(values[at] for at in ranked))


def combine(columns: Iterable[np.ndarray], rows: int) -> np.ndarray:
    """One dense code per distinct row of the given code columns, ordered like the rows."""
    combined = np.zeros(rows, np.int64)
    for codes in columns:
        mixed = combined * (codes.max(initial=0) + 1) + codes
        combined = np.unique(mixed, return_inverse=True)[1]
    return combined


def continuous(values: Iterable[Cell]) -> bool:
    """Whether these choices are numbers from a range, not classes: floats, many of them or long."""
    cells = list(values)
    number = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    floats = [cell for cell in cells if isinstance(cell, float)]
    return number and any(len(cells) > _CLASSES or len(repr(cell)) > _LONG for cell in floats)


def text(cell: Cell) -> str:
    """A choice as one reads it in a table; an empty cell has a name as well."""
    return "(empty)" if cell is None else to_text(cell)
