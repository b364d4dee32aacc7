"""What a question about a sweep is answered with: tables, plots and words, in no format yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Literal

import pandas as pd

from gymspace.results.layout import Side
from gymspace.terminal.forms import Form, choice, words

MARKS = "123456789" + ascii_lowercase


@dataclass(frozen=True)
class Column:
    """How a column of a frame is shown.

    ``spread`` is the column of its standard deviation; ``best`` says which of its values are bold.
    Where it is narrow, columns of the role ``choice`` are folded into one and ``spare`` ones go.
    """

    name: str
    title: str
    form: Form = choice
    side: Side = "right"
    spread: str | None = None
    best: Literal["max", "min"] | None = None
    role: Literal["plain", "choice", "spare"] = "plain"


@dataclass(frozen=True)
class Plot:
    """Curves or points over two axes; a row of ``data`` has ``series``, ``x`` and ``y``.

    A series is drawn with its own of the characters ``marks``, so that none needs a colour.
    """

    data: pd.DataFrame
    x: str
    y: str
    joined: bool = True
    marks: str = MARKS


@dataclass(frozen=True)
class Sheet:
    """A table: CSV and JSON have all of ``frame``, other formats ``columns`` of ``rows`` rows.

    A column of ``frame`` whose name starts with ``_`` is for the eye only.

    Rows with the same value of the column ``group`` belong together: the best is that of each such
    part, and the value is shown once. ``plot`` is drawn above the table in a terminal. ``more``
    rows there are that ``frame`` has not.
    """

    name: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    title: str = ""
    group: str | None = None
    rows: int | None = None
    plot: Plot | None = None
    more: int = 0

    @property
    def shown(self) -> pd.DataFrame:
        """The rows that are for the eye."""
        return self.frame if self.rows is None else self.frame.head(self.rows)


@dataclass(frozen=True)
class Answer:
    """A heading, tables (those of one name are parts of one) and what must be said with them."""

    head: str
    sheets: tuple[Sheet, ...]
    words: tuple[str, ...] = ()


def text_column(name: str, title: str | None = None, fold: bool = False) -> Column:
    """A column of text, on the left."""
    return Column(name, title or name, words, "fold" if fold else "left")


def columns(frame: pd.DataFrame, names: Sequence[str], form: Form = choice) -> tuple[Column, ...]:
    """Columns under their own names."""
    return tuple(Column(name, name, form) for name in names if name in frame)
