"""Learning curves of designs, or how a search closed in on its best, drawn in the terminal."""

from argparse import ArgumentParser, Namespace

import pandas as pd

from gymspace.analysis.curves import learning_curves, regret
from gymspace.analysis.load import finished, load_curves
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.results.view import View
from gymspace.terminal.answer import MARKS, Answer, Column, Plot, Sheet, text_column
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.designs import describe, find_design, ordered
from gymspace.terminal.forms import count, score, words
from gymspace.terminal.headline import headline
from gymspace.terminal.units import left_out, units

_DRAWN = 3


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    parser.add_argument(
        "designs",
        nargs="*",
        metavar="DESIGN",
        help="designs by id, the start of it or place; by default the three best",
    )
    measuring(parser)
    parser.add_argument("--column", help="what is drawn: val_loss, lr...; by default the metric")
    parser.add_argument("--regret", action="store_true", help="best so far, over finished trials")


def run(asked: Namespace) -> None:
    """Print the answer."""
    view = pick(asked)
    study = pick_study(asked, view)
    if view.imported:
        raise ConfigError("curves", "imported means have no curves", value=asked.folder)
    if asked.regret:
        write(asked, closing_in(study, finished(view.folder, study), headline(view)))
    else:
        chosen = [find_design(study, name) for name in asked.designs] or _best(study)
        write(asked, answer(view, study, list(dict.fromkeys(chosen)), asked.column))


def answer(view: View, study: Study, designs: list[str], column: str | None = None) -> Answer:
    """Means over repeats of each design, epoch by epoch; a plot for each task.

    Raises:
        ConfigError: too many designs, or no history has the column.
    """
    if len(designs) > len(MARKS):
        raise ConfigError("curves", f"at most {len(MARKS)} designs can be told apart")
    wanted = study.where(study.frame["design"].isin(designs).to_numpy(dtype=bool))
    sheets = []
    for task, judged in wanted.scores.items():
        name = column or judged.column
        histories = load_curves(view.folder, wanted.of(task), name)
        curves = learning_curves(histories)
        where = f"{study.task_name(task)}: " if len(wanted.scores) > 1 else ""
        sheets += _sheets(wanted, curves, designs, name, f"{where}{name}, mean over repeats")
    return Answer(headline(view), tuple(sheets), tuple(left_out(study)))


def closing_in(study: Study, order: pd.Series, head: str = "") -> Answer:
    """The best score so far and its regret over the trials in the order they finished."""
    unit, sheets = units(study), []
    for task, part in regret(study, order).groupby("task", sort=False):
        made = part.assign(best=unit.of(part["best"])).reset_index(drop=True)
        data = made.assign(series=0, x=made["trials"], y=made["regret"])[["series", "x", "y"]]
        steps = made[made["design"].ne(made["design"].shift())]
        columns = (
            Column("trials", "after trials", count),
            text_column("design"),
            Column("best", f"best {unit.title}", score),
            Column("regret", "regret", score),
        )
        where = f"{study.task_name(str(task))}: " if len(study.scores) > 1 else ""
        drawn = Plot(data, "finished trials", "regret")
        sheets.append(Sheet("regret", made, (), f"{where}how the search closed in", plot=drawn))
        sheets.append(Sheet("steps", steps, columns, "where the best design changed"))
    said = [
        "regret: mean of the best design of all minus that of the best so far",
        *left_out(study),
    ]
    return Answer(head, tuple(sheets), tuple(said))


def _sheets(
    study: Study, curves: pd.DataFrame, designs: list[str], name: str, title: str
) -> list[Sheet]:
    there = [design for design in designs if design in set(curves["design"])]
    place = {design: at for at, design in enumerate(there)}
    data = (
        pd.DataFrame(
            {"series": curves["design"].map(place), "x": curves["epoch"], "y": curves["mean"]}
        )
        .dropna()
        .sort_values(["series", "x"])
    )
    last = curves.sort_values("epoch").groupby("design").last().loc[there].reset_index()
    about = describe(study, there)
    key = last.assign(mark=list(MARKS[: len(there)]), what=[about[one] for one in there])
    columns = (
        Column("mark", "", words, "left"),
        text_column("design"),
        text_column("what", "choices", fold=True),
        Column("n", "repeats", count),
        Column("epoch", "last epoch", count),
        Column("mean", f"last {name}", score, spread="std"),
    )
    return [
        Sheet("curves", curves, (), title, plot=Plot(data, "epoch", name)),
        Sheet("last", key, columns),
    ]


def _best(study: Study) -> list[str]:
    best = ordered(study).groupby("task", sort=False).head(_DRAWN)
    return list(dict.fromkeys(best["design"]))[: len(MARKS)]
