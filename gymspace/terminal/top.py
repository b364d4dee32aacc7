"""The best designs, means per choice, reasons of failures."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console

from gymspace.errors import ConfigError
from gymspace.results.cells import Cell
from gymspace.results.frames import frame
from gymspace.results.names import more_is_better
from gymspace.results.query import condition, resolve, select, sort
from gymspace.results.tables import Row, Table
from gymspace.results.view import View, load_view
from gymspace.terminal import failures
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.asked import find_task, pick, reading, task_names, write
from gymspace.terminal.forms import choice, count, decimal, mark, score, words
from gymspace.terminal.headline import files, headline
from gymspace.terminal.means import means, varying
from gymspace.terminal.places import places
from gymspace.terminal.text import print_answer

_SHOWN, _SHOWN_OF_EACH = 10, 3  # designs, of one task or of each of several
_REASONS = 5


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    parser.add_argument("--metric", help="order by this metric, not by the one that chose epochs")
    parser.add_argument(
        "--sort", metavar="COLUMN", help="sort by a column or alias; the choosing metric best first"
    )
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument("--top", type=int, metavar="N", help="N designs of each task")


def run(asked: Namespace) -> None:
    """Print the answer; CSV and JSON have all designs unless --top says otherwise."""
    if asked.top is not None and asked.top < 1:
        raise ConfigError("--top", "must be at least 1", value=asked.top)
    view = pick(Namespace(**{**vars(asked), "where": [], "task": None}))
    rows = _rows(asked, view)
    whole = asked.top is None and asked.format in ("csv", "json")
    write(asked, answer(view, rows, asked.metric, asked.top, whole))


def summary(folder: Path, console: Console, top: int = _SHOWN) -> None:
    """Print what a folder holds, the ``top`` designs first.

    Raises:
        ConfigError: it is not a sweep's folder.
    """
    view = load_view(folder)
    print_answer(answer(view, view.leaderboard.rows, None, top), console)


def answer(
    view: View,
    rows: Sequence[Row],
    metric: str | None = None,
    top: int | None = None,
    whole: bool = False,
) -> Answer:
    """The given rows of the leaderboard, task by task, and what belongs to all of them.

    The frames have ``top`` rows of each, or all if ``whole``.

    Raises:
        ConfigError: no task has such a metric.
    """
    by_task: dict[str, list[Row]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(row)
    limit = top or (_SHOWN if len(by_task) == 1 else _SHOWN_OF_EACH)
    several, labels = len(by_task) > 1, task_names(view) if len(by_task) > 1 else {}
    sheets: list[Sheet] = []
    said: list[str] = []
    seen: list[Row] = []
    for task, here in by_task.items():
        by = _judge(view, task, metric)
        if by is None or all(row.get(f"val_{by[0]}_mean") is None for row in here):
            said.append((f"{labels[task]}: " if several else "") + "no design has a finished trial")
            sheets.append(Sheet("leaderboard", _frame(view, here), ()))
            continue
        title = f"task {task}: {labels[task]}\n" if several else ""
        sheets.append(_board(view, here, by, title, len(here) if whole else limit))
        table = None if several else means(view, here, *by)
        sheets += [table] if table else []
        seen += _first(here, by, limit)
    said += ["means per choice: choose a task, as in --task NAME"] if several else []
    bad = failures.reasons(view.trials.rows)
    if not bad.empty:
        sheets.append(failures.sheet(bad, "trials that ended badly", _REASONS))
    return Answer(
        headline(view), tuple(sheets), (*said, *places(view, seen, metric), files(view.folder))
    )


def _rows(asked: Namespace, view: View) -> list[Row]:
    """The rows of the leaderboard that were asked for, in the order that was asked for."""
    own = {*view.leaderboard.columns, "task"}
    known = {typed: name for typed, name in view.columns.items() if name in own}
    rows: list[Row] = list(view.leaderboard.rows)
    if asked.task is not None:
        task = find_task(view, asked.task)
        rows = [row for row in rows if row["task"] == task]
    kept = select(rows, [condition(text, known) for text in asked.where])
    if asked.metric is not None:
        kept = _by_metric(view, kept, asked.metric)
    if asked.sort is None:
        return kept[::-1] if asked.reverse else kept
    column = resolve("--sort", asked.sort, known)
    return sort(kept, column, descending=view.best_is_high(column) != asked.reverse)


def _by_metric(view: View, rows: Sequence[Row], metric: str) -> list[Row]:
    """The rows ranked anew by the mean of another metric."""
    ranked = []
    for task in dict.fromkeys(row["task"] for row in rows):
        name, high = _judge(view, task, metric) or (metric, True)
        here = [row for row in rows if row["task"] == task]
        ordered = sort(here, f"val_{name}_mean", descending=high)
        scored = sum(row.get(f"val_{name}_mean") is not None for row in ordered)
        ranks = [*range(1, scored + 1), *[None] * (len(ordered) - scored)]
        ranked += [{**row, "rank": rank} for row, rank in zip(ordered, ranks, strict=True)]
    return ranked


def _judge(view: View, task: str, metric: str | None) -> tuple[str, bool] | None:
    """The metric that ranks a task, and whether more is better."""
    chosen = view.judges.get(task)
    if metric is None or (chosen and metric == chosen[0]):
        return chosen
    pairs = [
        name.removeprefix("val_").removesuffix("_mean")
        for name in view.leaderboard.columns
        if name.startswith("val_") and name.endswith("_mean")
    ]
    if metric not in pairs:
        raise ConfigError("--metric", "no such metric", value=metric, choices=pairs)
    return metric, more_is_better(metric)


def _first(rows: Sequence[Row], by: tuple[str, bool], limit: int) -> list[Row]:
    column = f"val_{by[0]}_mean"
    there = [row for row in rows if row.get(column) is not None]
    return sorted(there, key=lambda row: row[column], reverse=by[1])[:limit]


def _board(view: View, rows: Sequence[Row], by: tuple[str, bool], title: str, most: int) -> Sheet:
    metric, high = by
    kept = rows[:most]
    made = _frame(view, kept).assign(_seeds=[_seeds(row) for row in kept])
    better = "higher" if high else "lower"
    line = f"{title}{metric} ({better} is better) {view.when}, mean ± std"
    columns = (
        Column("rank", "rank", count),
        *([Column("pareto", "front", mark)] if "pareto" in made else []),
        *(_choice(view, rows, name) for name in varying(view, rows)),
        *_scores(made.columns, metric, high),
        Column("_seeds", "seeds", words),
        *(column for column in _COSTS if column.name in made),
    )
    return Sheet("leaderboard", made, columns, line, more=len(rows) - len(kept))


def _frame(view: View, rows: Sequence[Row]) -> pd.DataFrame:
    head = dict.fromkeys(("rank", "design", *view.leaderboard.columns))
    return frame(Table(tuple(head), tuple(rows)))


_COSTS = (
    Column("params", "params", count, role="spare"),
    Column("seconds", "seconds", decimal(1), role="spare"),
)


def _choice(view: View, rows: Sequence[Row], name: str) -> Column:
    numeric = all(_is_number(row.get(name)) for row in rows)
    side = "right" if numeric else "left"
    return Column(name, view.aliases[name], choice, side, role="choice")  # type: ignore[arg-type]


def _scores(there: Sequence[str], metric: str, high: bool) -> Iterator[Column]:
    for split in ("val", "test"):
        name = f"{split}_{metric}"
        if f"{name}_mean" in there:
            spread = next(
                (f"{name}_{s}" for s in ("std", "popstd") if f"{name}_{s}" in there), None
            )
            best = "max" if high else "min"
            yield Column(
                f"{name}_mean",
                f"{split} {metric}",
                score,
                "right",
                spread,
                best,  # type: ignore[arg-type]
            )


def _seeds(row: Row) -> str:
    if row["n_done"] is None:
        return "?"
    missing = len(row["missing"].split())
    return str(row["n_done"]) if not missing else f"{row['n_done']}/{row['n_done'] + missing}"


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
