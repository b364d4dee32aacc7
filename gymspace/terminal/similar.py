"""Which tasks rank designs alike, which few designs show it, what to try on a new task."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from gymspace.analysis.similarity import (
    Similarity,
    anchors,
    recommend,
    similarity,
    task_table,
    transfer,
)
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.terminal.answer import Answer, Column, Sheet, text_column
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.designs import describe
from gymspace.terminal.forms import count, decimal, score
from gymspace.terminal.headline import headline
from gymspace.terminal.units import left_out

_WIDE = 8  # tasks; of more the matrix is no table for the eye


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    measuring(parser)
    parser.add_argument(
        "--anchors", type=int, default=6, metavar="N", help="how many designs stand for all (6)"
    )
    parser.add_argument(
        "--new", type=Path, metavar="FOLDER", help="a sweep of some designs on a new task"
    )


def run(asked: Namespace) -> None:
    """Print the answer."""
    if asked.anchors < 1:
        raise ConfigError("--anchors", "must be at least 1", value=asked.anchors)
    view = pick(asked)
    study = pick_study(asked, view)
    new = None if asked.new is None else _scores(asked)
    write(asked, answer(study, asked.anchors, new, headline(view)))


def answer(study: Study, few: int = 6, new: pd.Series | None = None, head: str = "") -> Answer:
    """Kendall's tau between tasks, anchor designs, recommendations.

    ``new`` are gains of designs on a task that is not in the study.
    """
    table = task_table(study)
    found = similarity(table)
    sheets, said = [*_taus(study, found)], []
    try:
        chosen = anchors(table, few)
    except ConfigError as error:
        said += [str(error)]
    else:
        sheets.append(_anchors(study, chosen))
        passed = transfer(table, pd.Index(chosen["design"]))
        sheets += [_transfer(study, passed)] if len(passed) else []
    sheets += [] if new is None else [_new(study, recommend(table, new))]
    tasks = len(found.tau)
    least = int(found.shared.to_numpy()[np.triu_indices(tasks, 1)].min())
    said += [
        f"Kendall's tau-b over the designs that two tasks share (at least {least}); tasks are in "
        "the order of their clustering",
    ]
    return Answer(head, tuple(sheets), (*said, *left_out(study)))


def _scores(asked: Namespace) -> pd.Series:
    other = pick_study(Namespace(**{**vars(asked), "folder": asked.new, "where": [], "task": None}))
    if len(other.scores) > 1:
        raise ConfigError("--new", "has several tasks", value=asked.new, choices=other.scores)
    return other.designs.set_index("design")["gain"].astype(float)


def _taus(study: Study, found: Similarity) -> list[Sheet]:
    names = {task: study.task_name(str(task)) for task in found.tau.index}
    frame = found.tau.reset_index(names="task")
    titles = [f"({at})" for at in range(1, len(names) + 1)]
    columns = (
        Column("task", "task", lambda task: f"({[*names].index(task) + 1}) {names[task]}", "fold"),
        *(Column(task, title, decimal(2)) for task, title in zip(names, titles, strict=True)),
    )
    nearest = _nearest(found)
    near = (
        Column("task", "task", lambda task: names[task], "fold"),
        Column("nearest", "most similar task", lambda task: names.get(task, "-"), "fold"),
        Column("tau", "tau", decimal(2)),
        Column("shared", "designs", count),
    )
    wide = len(names) > _WIDE
    title = "tau between tasks"
    matrix = Sheet("tau", frame, () if wide else columns, "" if wide else title)
    return [matrix, Sheet("nearest", nearest, near, "the most similar task of each")]


def _nearest(found: Similarity) -> pd.DataFrame:
    tau = found.tau.to_numpy(dtype=float, copy=True)
    np.fill_diagonal(tau, -np.inf)
    best = np.where(np.isnan(tau), -np.inf, tau).argmax(axis=1)
    rows = range(len(tau))
    names = found.tau.index
    return pd.DataFrame(
        {
            "task": names,
            "nearest": names[best],
            "tau": tau[rows, best],
            "shared": found.shared.to_numpy()[rows, best],
        }
    )


def _anchors(study: Study, chosen: pd.DataFrame) -> Sheet:
    made = chosen.assign(what=_what(study, chosen["design"]), error=chosen["error"].round(9))
    columns = (
        text_column("design"),
        text_column("what", "choices", fold=True),
        Column("error", "error of tau", decimal(3)),
    )
    title = "anchors: these few designs order the tasks nearly as all do (each with those above)"
    return Sheet("anchors", made, columns, title)


def _transfer(study: Study, table: pd.DataFrame) -> Sheet:
    columns = (
        Column("task", "taken for new", lambda task: study.task_name(str(task)), "fold"),
        Column("source", "most similar", lambda task: study.task_name(str(task)), "fold"),
        Column("tau", "tau", decimal(2)),
        text_column("design", "its best"),
        Column("regret", "regret", score),
        Column("rank", "rank here", count),
    )
    title = "each task taken for a new one: the best design of the most similar, by the anchors"
    return Sheet("transfer", table, columns, title)


def _new(study: Study, table: pd.DataFrame) -> Sheet:
    made = table.assign(what=_what(study, table["design"]))
    columns = (
        Column("task", "like task", lambda task: study.task_name(str(task)), "fold"),
        Column("tau", "tau", decimal(2)),
        Column("shared", "designs", count),
        text_column("design", "try"),
        text_column("what", "choices", fold=True),
    )
    return Sheet("recommended", made, columns, "for the new task")


def _what(study: Study, designs: Sequence[str]) -> list[str]:
    known = describe(study, list(dict.fromkeys(designs)))
    return [known[design] for design in designs]
