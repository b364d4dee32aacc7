"""What the commands have in common: their options, the part of a folder that is looked at."""

import os
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from gymspace.analysis.levels import text
from gymspace.analysis.load import view_study
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.results.names import STATUSES
from gymspace.results.query import condition, select
from gymspace.results.tables import Row
from gymspace.results.view import View, load_view, narrowed
from gymspace.terminal.answer import Answer
from gymspace.terminal.formats import FORMATS
from gymspace.terminal.text import print_answer

_PIPE_WIDTH = 100


def reading(parser: ArgumentParser) -> None:
    """Add the folder, what of it is looked at, and the format."""
    parser.add_argument("folder", type=Path, help="the sweep's folder, results/NAME")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="keep rows where COLUMN=VALUE (or != < <= > >=); may be repeated",
    )
    parser.add_argument("--task", help="one task only: its id or name, or the start of one")
    parser.add_argument("--rule", help="which epoch's scores, of an imported folder")
    formats(parser)


def measuring(parser: ArgumentParser) -> None:
    """Add the score that is looked at."""
    parser.add_argument(
        "--metric", help="a metric or column to judge by, instead of what chose the epochs"
    )
    parser.add_argument(
        "--keep",
        metavar="STATUSES",
        default="done",
        help="trials that count: done (the default), or done,diverged",
    )


def formats(parser: ArgumentParser) -> None:
    """Add the formats of other programs."""
    group = parser.add_mutually_exclusive_group()
    for name in FORMATS:
        group.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, help=f"print {name}"
        )
    parser.add_argument("--table", metavar="NAME", help="print only the table of this name")


def pick(asked: Namespace) -> View:
    """Read the folder; of its trials those of the task, and that meet the conditions.

    Raises:
        ConfigError: not a sweep's folder, nothing finished, no such task or column, nothing left.
    """
    view = load_view(asked.folder, asked.rule)
    if asked.rule is not None and view.imported is None:
        raise ConfigError("--rule", "is for imported folders", value=asked.rule)
    if not view.records:
        waiting = f" ({view.unfinished} unfinished)" if view.unfinished else ""
        raise ConfigError("results", f"has no finished trial yet{waiting}", value=asked.folder)
    if asked.task is None and not asked.where:
        return view
    rows: list[Row] = list(view.trials.rows)
    if asked.task is not None:
        task = find_task(view, asked.task)
        rows = [row for row in rows if row["task"] == task]
    own = set(view.trials.columns)
    known = {typed: name for typed, name in view.columns.items() if name in own}
    return narrowed(view, select(rows, [condition(one, known) for one in asked.where]))


def pick_study(asked: Namespace, view: View | None = None) -> Study:
    """The study of the trials that were asked for.

    Raises:
        ConfigError: as `pick` and `analysis.load.view_study`.
    """
    statuses = [word.strip() for word in asked.keep.split(",")]
    for word in statuses:
        if word not in STATUSES:
            raise ConfigError("--keep", "no such status", value=word, choices=STATUSES)
    return view_study(view or pick(asked), asked.metric, keep=statuses)


def task_names(view: View) -> dict[str, str]:
    """The id of each task -> what is to be learnt, in words."""
    first: dict[str, Row] = {}
    for row in view.trials.rows:
        first.setdefault(row["task"], row)
    cells = {task: [row.get(name) for name in view.task_columns] for task, row in first.items()}
    return {
        task: " ".join(text(cell) for cell in values if cell is not None) or task
        for task, values in cells.items()
    }


def find_task(view: View, asked: str) -> str:
    """The id of the task that was asked for.

    Raises:
        ConfigError: there is none, or several start so.
    """
    known = task_names(view)
    exact = [task for task, name in known.items() if asked in (task, name)]
    starts = [t for t, n in known.items() if asked and (t.startswith(asked) or n.startswith(asked))]
    found = exact or starts
    if len(found) != 1:
        start = "are called" if exact else "start"
        problem = "no such task" if not found else f"{len(found)} tasks {start} so"
        raise ConfigError("--task", problem, value=asked, choices=list(known.values())[:20])
    return found[0]


def write(asked: Namespace, answer: Answer) -> None:
    """Print an answer in the format that was asked for; beside CSV the words go to stderr.

    Raises:
        ConfigError: it has no such table.
    """
    chosen = answer
    if asked.table is not None:
        sheets = tuple(sheet for sheet in answer.sheets if sheet.name == asked.table)
        if not sheets:
            names = dict.fromkeys(sheet.name for sheet in answer.sheets)
            raise ConfigError("--table", "no such table", value=asked.table, choices=names)
        chosen = replace(answer, sheets=sheets)
    if asked.format is None:
        print_answer(chosen, console())
        return
    sys.stdout.write(FORMATS[asked.format](chosen))
    if asked.format == "csv":
        print(*answer.words, sep="\n", end="\n" if answer.words else "", file=sys.stderr)


def console() -> Console:
    """Where it is piped, a hundred columns unless $COLUMNS says otherwise."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_PIPE_WIDTH if piped else None)
