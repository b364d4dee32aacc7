"""Plots of characters."""

import plotext
from rich.console import Console
from rich.text import Text

from gymspace.terminal.answer import Plot

_WIDEST, _HEIGHT = 100, 18


def draw(plot: Plot, console: Console) -> Text:
    """The plot at the console's width."""
    figure = plotext.figure
    figure.clear()  # plotext has one figure
    figure.plot_size(min(console.width, _WIDEST) - 1, _HEIGHT)
    figure.theme("default" if console.is_terminal else "colorless")
    for mark, (_, part) in zip(plot.marks, plot.data.groupby("series", sort=False), strict=False):
        signal = figure.signal(part["x"].tolist(), part["y"].tolist(), marker=mark)
        if plot.joined:
            signal.lines()
        figure.draw(signal)
    figure.title(plot.y)
    figure.label(plot.x)
    lines = str(figure.build()).splitlines()
    drawn = [Text.from_ansi(line) for line in lines]
    for line in drawn:
        line.rstrip()
    return Text("\n").join(drawn)
