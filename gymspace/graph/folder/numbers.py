"""Cells as numbers, and which of them are none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:nan|inf|infinity))$"


@dataclass(frozen=True, eq=False)
class Numbers:
    """``values`` float64 [R], nan where a cell is ``empty`` or ``odd`` (something else)."""

    values: np.ndarray
    empty: np.ndarray
    odd: np.ndarray


def numbers(column: Any) -> Numbers:
    """The cells of a column of text, numbers or truth values as numbers; true is 1."""
    empty = np.asarray(pc.is_null(column))
    parsed = _parsed(column)
    values = np.asarray(pc.fill_null(parsed, float("nan")), dtype=np.float64)
    return Numbers(values, empty, np.asarray(pc.is_null(parsed)) & ~empty)


def _parsed(column: Any) -> Any:
    """The column as doubles, null where a cell is no number."""
    try:
        return pc.cast(column, pa.float64(), safe=False)
    except pa.ArrowInvalid:  # raised for the first cell that cannot be read; now for each
        low = pc.utf8_lower(column)
        column = pc.if_else(pc.equal(low, "true"), "1", column)
        column = pc.if_else(pc.equal(low, "false"), "0", column)
        fits = pc.match_substring_regex(column, _NUMBER)
        return pc.cast(pc.if_else(fits, column, None), pa.float64())


def is_number_like(kind: pa.DataType) -> bool:
    """Whether cells of this type can be numbers: numbers, truth values, text, nothing."""
    t = pa.types
    if t.is_dictionary(kind):
        return is_number_like(kind.value_type)
    return (
        t.is_integer(kind)
        or t.is_floating(kind)
        or t.is_decimal(kind)
        or t.is_boolean(kind)
        or is_text(kind)
        or t.is_null(kind)
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
