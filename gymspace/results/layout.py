"""The terminal's house style: plain grids, aligned numbers, a compact form where it is narrow."""

from typing import Literal, cast

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNLIMITED = 10_000


def grid(*columns: tuple[str, str]) -> Table:
    """A table without lines; each column has a title and ``left`` or ``right``."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 1), header_style="bold")
    for title, side in columns:
        table.add_column(title, justify=cast(Literal["left", "right"], side))
    return table


def print_fitting(console: Console, wide: Table, compact: Table) -> None:
    """Print ``wide`` if the console is wide enough for it, else ``compact``."""
    options = console.options.update(max_width=_UNLIMITED)
    fits = Measurement.get(console, options, wide).maximum <= console.width
    console.print(wide if fits else compact)


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
