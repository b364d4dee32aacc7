"""One cell of a table as text."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from gymspace.results.cells import Cell, to_text
from gymspace.results.layout import number

Form = Callable[[Any], str]
_LONG = 8  # characters of a float beyond which 4 digits are shown


def plain(value: Any) -> Cell:
    """A value of a frame as a cell: numpy's own types become Python's, what is missing None."""
    if isinstance(value, np.generic):
        value = value.item()
    missing = value is None or value is pd.NA or (isinstance(value, float) and value != value)
    return None if missing else value


def choice(cell: Any) -> str:
    """A choice, an id or a word; a dash where there is none."""
    if cell is None:
        return "-"
    text = to_text(cell)
    return f"{cell:.4g}" if isinstance(cell, float) and len(text) > _LONG else text


def level(cell: Any) -> str:
    """A choice that is compared with others: an empty cell is one of them."""
    return "(empty)" if cell is None else choice(cell)


def words(cell: Any) -> str:
    """Text as it is."""
    return "-" if cell is None else str(cell)


def mark(cell: Any) -> str:
    """A star where it is so: no other design is as good in all objectives and better in one."""
    return "*" if cell is True else ""


def decimal(digits: int) -> Form:
    """A number with so many decimals."""
    return lambda value: number(value, digits)


def share(value: Any) -> str:
    """A part of one, in percent."""
    return "-" if value is None else f"{100 * value:.0f}%"


def p_value(value: Any) -> str:
    """A p value; below 0.001 only that is said."""
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def number_of(value: Any) -> str:
    """A number: whole if it is, else with four decimals."""
    whole = value is not None and float(value).is_integer()
    return number(value, 0 if whole else 4)


count = decimal(0)
score = decimal(4)
