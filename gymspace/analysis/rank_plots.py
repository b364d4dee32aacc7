"""Plots of how the choices of a dimension rank (You et al. 2020, figure 4), for TensorBoard."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from matplotlib import colormaps
from matplotlib.figure import Figure
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from gymspace.analysis.levels import text
from gymspace.analysis.load import load_study
from gymspace.analysis.ranking import Ranking, rank_all
from gymspace.errors import ConfigError
from gymspace.results.eventfile import write_events

FILE = "events.out.tfevents.ranks"


def write_rank_plots(folder: Path) -> None:
    """Write a picture per dimension of the sweep in ``folder`` for TensorBoard's images.

    Where nothing can be ranked there are none, and those of an earlier state go.

    Raises:
        ConfigError: ``folder`` is not a sweep's folder, or cannot be written.
    """
    try:
        if pictures := list(_pictures(folder)):
            write_events(folder / FILE, [Event(summary=Summary(value=pictures))])
        else:
            (folder / FILE).unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError("results", problem, value=folder) from error


def _pictures(folder: Path) -> Iterator[Summary.Value]:
    try:
        study = load_study(folder)
        rankings = rank_all(study)
    except ConfigError:  # one design, one choice, no complete group: a sweep like any other
        return
    for ranking in rankings.values():
        name = study.alias(ranking.dimension)
        yield Summary.Value(tag=f"ranks/{name}", image=_png(rank_plot(ranking, name)))


def rank_plot(ranking: Ranking, name: str) -> Figure:
    """Bars of the average rank per choice, beside the share of groups at each rank."""
    choices = [text(choice) for choice in ranking.choices["choice"]]
    figure = Figure(figsize=(7, 1.4 + 0.35 * len(choices)), dpi=100, layout="constrained")
    average, shares = figure.subplots(1, 2, sharey=True)
    bars = average.barh(choices, ranking.choices["average_rank"], color="#4c72b0")
    average.bar_label(bars, fmt="%.2f", padding=3)
    average.set(xlabel="average rank (1 is best)", xlim=(0, len(choices) + 0.5))
    left = [0.0] * len(choices)
    colours = colormaps["viridis"].resampled(max(len(ranking.distribution.columns), 2))
    for at, (rank, share) in enumerate(ranking.distribution.items()):
        shares.barh(choices, share, left=left, color=colours(at), label=f"{rank:g}")
        left = [low + more for low, more in zip(left, share, strict=True)]
    shares.set(xlabel="share of groups at each rank", xlim=(0, 1))
    shares.invert_yaxis()
    shares.legend(title="rank", loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    dropped = f", {ranking.partial} incomplete ones left out" if ranking.partial else ""
    figure.suptitle(f"{name}: {ranking.used} matched groups{dropped}")
    return figure


def _png(figure: Figure) -> Summary.Image:
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
    return Summary.Image(
        height=height, width=width, colorspace=4, encoded_image_string=buffer.getvalue()
    )
