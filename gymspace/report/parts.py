"""What a report is made of: sections with words, figures, tables and blocks of text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from gymspace.analysis.levels import text
from gymspace.results.cells import Cell


@dataclass(frozen=True)
class Sheet:
    """A small table: its title, its columns with whether each has numbers, its rows of text.

    Where it is ``folded`` it opens by its title.
    """

    title: str
    head: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[str]]
    folded: bool = False


@dataclass(frozen=True)
class Panel:
    """A figure with what it rests on in ``words``, and the same in numbers.

    Panels of a section that have a ``choice`` are shown one at a time, those without all at once.
    ``width`` is the least that the figure needs, in pixels.
    """

    title: str
    figure: go.Figure
    words: Sequence[str]
    sheets: Sequence[Sheet] = ()
    choice: str = ""
    width: int = 0


@dataclass(frozen=True)
class Section:
    """A part of the page: ``key`` is its anchor, ``data`` what its script works on."""

    key: str
    title: str
    words: Sequence[str] = ()
    panels: Sequence[Panel] = ()
    sheets: Sequence[Sheet] = ()
    blocks: Mapping[str, str] = field(default_factory=dict)
    data: Any = None


def sheet(title: str, frame: pd.DataFrame, digits: int = 3) -> Sheet:
    """A frame as a table: floats with ``digits`` decimals, choices as one reads them."""
    head = [(str(name).replace("_", " "), _numeric(frame[name])) for name in frame]
    rows = [[cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return Sheet(title, head, rows)


def cell(value: Any, digits: int = 3) -> str:
    """One value as text; what is missing is a dash."""
    if value is None or value is pd.NA or value != value:
        return "-"
    return f"{value:,.{digits}f}" if isinstance(value, float) else text(value)


def words(choices: Mapping[str, Cell]) -> str:
    """A design's choices in words, ``stage=stack lr=0.01``; empty ones are left out."""
    there = {name: cell for name, cell in choices.items() if cell is not None}
    said = (f"{name}={_short(value)}" for name, value in there.items())
    return " ".join(said) or "the base design"


def _short(value: Cell) -> str:
    return f"{value:.4g}" if isinstance(value, float) else text(value)


def counted(n: int, noun: str) -> str:
    """``1 trial``, ``2,000 trials``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
