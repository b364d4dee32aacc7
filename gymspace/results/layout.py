"""The terminal's house style: plain grids, aligned numbers, a compact form where it is narrow."""

from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

_FOLD_WIDTH = 24  # of a folding column, to count as fitting
_FOLD_LEAST = 12


Side = Literal["left", "right", "fold"]


def grid(*columns: tuple[str, Side]) -> Table:
    """A table without lines; ``fold`` is a left column that wraps where the console is narrow."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 1), header_style="bold")
    for title, side in columns:
        justify: Literal["left", "right"] = "right" if side == "right" else "left"
        table.add_column(title, justify=justify, no_wrap=side != "fold", overflow="fold")
        table.columns[-1].min_width = _FOLD_LEAST if side == "fold" else None
    return table


def add(table: Table, *cells: str | Text, style: str = "", last: bool = False) -> None:
    """Add a row of literal text (a cell like ``[1]`` is no markup); ``last`` ends a section."""
    texts = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
    table.add_row(*texts, style=style, end_section=last)


def note(console: Console, text: str) -> None:
    """Print a dim line of literal text, never broken inside a path or a command."""
    console.print(Text(text, style="dim"), soft_wrap=True)


def print_fitting(console: Console, *tables: Table) -> None:
    """Print the first of the tables that the console is wide enough for, else the last."""
    fits = [table for table in tables if _width(table) <= console.width]
    console.print([*fits, tables[-1]][0])


def _width(table: Table) -> int:
    """Characters per line that the table needs to show every unfolded column whole."""
    widths = [
        max(Text(str(cell)).cell_len for cell in (column.header, *column.cells))
        if column.no_wrap
        else _FOLD_WIDTH
        for column in table.columns
    ]
    return sum(widths) + 2 * (len(widths) - 1)


def number(value: float | None, digits: int = 0) -> str:
    """A number with ``digits`` decimals, or a dash; large and tiny ones in scientific notation."""
    if value is None:
        return "-"
    if digits and value and not 10.0**-digits <= abs(value) < 1e6:
        return f"{value:.{digits}g}" if digits > 1 else f"{value:.{digits}f}"
    return f"{value:,.{digits}f}"


def plus_minus(mean: float | None, std: float | None) -> Text:
    """``mean ± std``, the spread dimmed and left out where there is none."""
    text = Text(number(mean, digits=4))
    return text if std is None else text.append(f" ± {number(std, digits=4)}", style="dim")
