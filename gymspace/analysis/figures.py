"""Figures of what the analyses found, in plotly; for the report and for notebooks.

Colours are in the middle of the scale, so that they read on a light page and on a dark one.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gymspace.analysis.levels import Levels, continuous, encode, text
from gymspace.analysis.ranking import Ranking

STRONG, QUIET = "#2f7fc1", "#8fa3b5"
COLOURS = (
    "#2f7fc1",
    "#cf7310",
    "#2f9a5b",
    "#d1495b",
    "#8a63c7",
    "#1f96a3",
    "#a0703c",
    "#c7538f",
)
_SCALE = [[0.0, "#9fb1c1"], [0.5, "#5b96c7"], [1.0, "#cf5a10"]]
_DRAWN = 400  # ranks drawn per violin, in the shares of all groups
_ROW, _FRAME = 34, 74  # pixels
_TICKS = 12


def ranks(ranking: Ranking) -> go.Figure:
    """Bars of the average rank per choice (from 1, the best, on) beside violins of its ranks.

    Paper: You et al. 2020, figure 3, turned on its side. A violin has the share of groups at each
    rank, not every group.
    """
    choices = [text(choice) for choice in ranking.choices["choice"]]
    average = ranking.choices["average_rank"].to_numpy(dtype=float)
    colours = [STRONG if value == average.min() else QUIET for value in average]
    figure = make_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.05)
    figure.add_bar(
        x=average - 1,
        base=1,
        y=choices,
        orientation="h",
        marker_color=colours,
        text=[f"{value:.2f}" for value in average],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: average rank %{text}<extra></extra>",
        col=1,
        row=1,
    )
    for choice, shares, colour in zip(
        choices, ranking.distribution.to_numpy(dtype=float), colours, strict=True
    ):
        values = ranking.distribution.columns.to_numpy(dtype=float)
        figure.add_violin(
            x=np.repeat(values, np.round(shares * _DRAWN).astype(int)),
            y0=choice,
            name=choice,
            orientation="h",
            line_color=colour,
            bandwidth=0.28,
            spanmode="soft",
            scalemode="width",
            points=False,
            hoverinfo="skip",
            width=0.9,
            row=1,
            col=2,
        )
    limits = [0.4, len(choices) + 0.6]
    room = max(average.max() - 1, 0.1) * 1.3  # for the numbers beside the bars
    figure.update_xaxes(range=[1, 1 + room], nticks=5, col=1)
    figure.update_xaxes(range=limits, dtick=1 if len(choices) <= _TICKS else None, col=2)
    figure.update_xaxes(title_text="average rank", col=1)
    figure.update_xaxes(title_text="all ranks", col=2)
    figure.update_xaxes(title_font_size=12)
    figure.update_yaxes(autorange="reversed", type="category")
    return _styled(figure, _FRAME + _ROW * len(choices))


def importances(table: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """Bars of each dimension's importance, from `importance.Importance.table`."""
    labels = [names.get(key, key) for key in table["dimension"]]
    values = table["importance"].to_numpy(dtype=float)
    bars = go.Bar(
        x=values,
        y=labels,
        orientation="h",
        marker_color=STRONG,
        text=[f"{value:.1%}" for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_xaxes(
        title_text="share of variance", tickformat=".0%", range=[0, 1.25 * max(values.max(), 1e-3)]
    )
    figure.update_yaxes(autorange="reversed", type="category")
    return _styled(figure, _FRAME + 26 * len(labels))


def trade_off(
    designs: pd.DataFrame, on: np.ndarray, cost: str, score: str, words: Sequence[str]
) -> go.Figure:
    """Designs by ``cost`` and score, those ``on`` the Pareto front joined by a line.

    ``designs`` has the columns ``cost`` and ``score``; ``words`` say what each row is.
    """
    figure = go.Figure()
    x, y = (designs[name].to_numpy(dtype=float) for name in (cost, "score"))
    hover = f"%{{text}}<br>{cost} %{{x:,.4~g}}, {score} %{{y:.4f}}<extra></extra>"
    text_ = np.asarray(words, dtype=object)
    dots = {"size": 6, "color": QUIET, "opacity": 0.65}
    figure.add_scatter(
        x=x[~on],
        y=y[~on],
        text=text_[~on],
        mode="markers",
        marker=dots,
        name="other designs",
        hovertemplate=hover,
    )
    order = np.flatnonzero(on)[np.argsort(x[on], kind="stable")]
    figure.add_scatter(
        x=x[order],
        y=y[order],
        text=text_[order],
        mode="lines+markers",
        line={"shape": "hv", "color": STRONG, "width": 2},
        marker={"size": 9, "color": STRONG},
        name="Pareto front",
        hovertemplate=hover,
    )
    wide = len(x) > 0 and x.min() > 0 and x.max() / x.min() > 10
    figure.update_xaxes(title_text=cost, type="log" if wide else "linear")
    figure.update_yaxes(title_text=score)
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return _styled(figure, 400, legend=True)


def parallel(
    designs: pd.DataFrame, dimensions: Sequence[str], names: Mapping[str, str], score: str
) -> go.Figure:
    """A line per design through its choices to its score; dragging along an axis picks lines."""
    axes = [_axis(encode(designs[key]), names.get(key, key)) for key in dimensions]
    values = designs["score"].to_numpy(dtype=np.float32)
    last = {"label": score, "values": values}
    lines = {"color": values, "colorscale": _SCALE, "showscale": False}
    figure = go.Figure(go.Parcoords(dimensions=[*axes, last], line=lines))
    figure = _styled(figure, 420)
    return figure.update_layout(margin={"l": 60, "r": 60, "t": 50, "b": 24})


def learning(curves: pd.DataFrame, title: str) -> go.Figure:
    """A mean curve per design with a band from its least to its largest repeat.

    ``curves`` is what `curves.learning_curves` gives, with one more column, ``label``. Every trace
    of a design has its ``task/design`` as ``meta``.
    """
    traces = []
    groups = curves.groupby(["task", "design"], sort=False)
    for at, ((task, design), part) in enumerate(groups):
        epochs = part["epoch"].to_numpy(dtype=np.float32)
        mean, low, high = part[["mean", "low", "high"]].to_numpy(dtype=np.float32).T
        colour, label = COLOURS[at % len(COLOURS)], str(part["label"].iloc[0])
        same = {"type": "scatter", "meta": f"{task}/{design}", "legendgroup": label}
        if int(part["n"].max()) > 1:
            traces.append(
                {
                    **same,
                    "x": np.concatenate([epochs, epochs[::-1]]),
                    "y": np.concatenate([high, low[::-1]]),
                    "fill": "toself",
                    "mode": "none",
                    "fillcolor": colour,
                    "opacity": 0.18,
                    "hoverinfo": "skip",
                    "showlegend": False,
                }
            )
        line = {"color": colour, "width": 2}
        traces.append(
            {**same, "x": epochs, "y": mean, "mode": "lines", "line": line, "name": label}
        )
    figure = go.Figure(traces)
    figure.update_xaxes(title_text="epoch")
    figure.update_yaxes(title_text=title)
    figure.update_layout(hovermode="x unified")
    return _styled(figure, 420)


def _axis(levels: Levels, label: str) -> dict:
    """An axis of numbers, or of choices at equal distances, in their order, of many some named."""
    if continuous(levels.values):
        return {"label": label, **_scale(np.array(levels.values, dtype=float), levels.codes)}
    every = max(1, -(-len(levels.values) // _TICKS))
    at = list(range(0, len(levels.values), every))
    names = [text(levels.values[i]) for i in at]
    axis = {"label": label, "values": levels.codes, "tickvals": at, "ticktext": names}
    if len(levels.values) == 1:
        axis["range"] = [-1, 1]
    return axis


def _scale(numbers: np.ndarray, codes: np.ndarray) -> dict:
    """Numbers on an axis, by their logarithm where they span two orders of magnitude."""
    low, high = float(numbers.min()), float(numbers.max())
    wide = low > 0 and high / low >= 100
    ends = np.log10([low, high]) if wide else np.array([low, high])
    ticks = np.linspace(ends[0], ends[1], 5)
    named = 10**ticks if wide else ticks
    values = (np.log10(numbers) if wide else numbers)[codes].astype(np.float32)
    return {"values": values, "tickvals": ticks, "ticktext": [f"{tick:.3g}" for tick in named]}


def _styled(figure: go.Figure, height: int, legend: bool = False) -> go.Figure:
    return (
        figure.update_layout(
            template=go.layout.Template(),
            height=height,
            margin={"l": 8, "r": 8, "t": 8, "b": 8},
            showlegend=legend,
            bargap=0.3,
            font={"size": 13},
        )
        .update_xaxes(automargin=True)
        .update_yaxes(automargin=True)
    )
