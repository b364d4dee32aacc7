"""Records, in any order -> the table of trials and the leaderboard; pure functions."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.results import designs, names
from gymspace.results.cells import Cell, from_text, order, to_text
from gymspace.results.designs import Design, Trials
from gymspace.results.read import Record

Row = dict[str, Any]
# A column of the trials' results that a design is judged by, and whether more of it is better.
Goal = tuple[str, bool]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; what a row lacks, or has as None, is an empty cell."""

    columns: tuple[str, ...]
    rows: Sequence[Row]

    def csv(self) -> str:
        """The table as CSV text; `load_table` restores every value and its type."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_text(name, row.get(name)) for name in self.columns])
        return text.getvalue()


def load_table(path: Path) -> Table:
    """Read a CSV that `Table.csv` wrote, every cell with its type.

    Raises:
        ConfigError: there is no such file, or it is no table of this kind.
    """
    try:
        header, texts = read_cells(Path(path))
    except (OSError, ValueError, csv.Error) as error:
        raise ConfigError("results", f"is not a readable table: {error}", value=path) from error
    rows = ({name: _cell(name, text) for name, text in row.items()} for row in texts)
    return Table(tuple(header), tuple(rows))


def read_cells(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The header of a CSV, and its rows as text.

    Raises:
        ValueError, OSError, csv.Error: it is empty, not readable, or a row has no cell per column.
    """
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file)) or [[]]
    if not header:
        raise ValueError("it is empty")
    for at, line in enumerate(lines, start=1):
        if len(line) != len(header):
            raise ValueError(f"row {at} has {len(line)} cells for {len(header)} columns")
    return header, [dict(zip(header, line, strict=True)) for line in lines]


def trials_table(records: Sequence[Record]) -> Table:
    """One row per trial: who it is, how it ended, its choices, its scores at the best epoch."""
    trials, measured = designs.gather(records), designs.metrics(records)
    column = names.columns(trials.varied, measured)
    scores = [f"{split}_{name}" for split in names.SPLITS for name in ("loss", *measured)]
    plain = (*names.IDENTITY, "split", "best_epoch", "epochs", "params", "seconds")
    sized = _budget_columns(records)
    rows = []
    for record in trials.records:
        row = {name: record.get(name) for name in plain} | _budget(record)
        row |= {name: finite(record.get(name)) for name in scores}
        rows.append(row | _choices(column, trials.varied, trials.cells[record["trial"]]))
    head = (*names.IDENTITY, *column.values(), "split", "best_epoch", "epochs")
    return Table((*head, *scores, *sized, "params", "seconds"), tuple(rows))


def leaderboard_table(
    records: Sequence[Record],
    repeats: Sequence[tuple[int, int]] | None = None,
    goals: Sequence[Goal] = (),
) -> Table:
    """One row per task and design: rank, choices, mean and spread over its finished repeats.

    ``repeats`` are the (seed, fold) pairs that every design should have; by default all that occur.
    Designs are ranked within their task by the mean of the first of ``goals``; by default that is
    the validation score of the metric that chose the epochs. A tie goes to the smaller design id.
    Only trials that are done and have a score count; ``n_seeds`` is the number of their seeds,
    ``missing`` the seeds (as ``seed/fold`` where there are several folds) without one. A design
    that a search gave up has no rank. Spreads have ddof 1. Of several goals ``pareto`` is true
    where no other ranked design of the task is as good in all and better in one.
    """
    trials, measured = designs.gather(records), designs.metrics(records)
    column = names.columns(trials.varied, measured)
    wanted = sorted(set(repeats or {(r["seed"], r["fold"]) for r in records}))
    grouped = _by_task(trials)
    rows = [
        row for group in grouped for row in _rank(group, wanted, column, trials, measured, goals)
    ]
    scores = [
        f"{split}_{name}_{part}"
        for name in (*measured, "loss")
        for split in ("val", "test")
        for part in ("mean", "std")
    ]
    task = ("task",) if len(grouped) > 1 else ()
    counts = (f"n_{status}" for status in names.STATUSES)
    front = ("pareto",) if len(goals) > 1 else ()
    head = ("rank", *front, "design", *task, *column.values(), "n_seeds", "missing")
    sized = _budget_columns(records)
    return Table((*head, *scores, *sized, "params", "seconds", *counts), tuple(rows))


def counted(design: Design) -> list[Record]:
    """The trials of a design that count in its means: done, with a validation score."""
    return [
        record
        for record in design.records
        if record["status"] == "done" and finite(record.get(f"val_{record['metric']}")) is not None
    ]


def chooser(records: Iterable[Record]) -> tuple[str, bool] | None:
    """The metric that chooses epochs and ranks, and whether more is better; None if none says."""
    for record in records:
        if record["metric"] and record["direction"]:
            return record["metric"], record["direction"] == "max"
    return None


def judges(records: Iterable[Record]) -> dict[str, tuple[str, bool]]:
    """What `chooser` says of each task that has a metric."""
    found: dict[str, tuple[str, bool]] = {}
    for record in records:
        if record["task"] not in found and record["metric"] and record["direction"]:
            found[record["task"]] = record["metric"], record["direction"] == "max"
    return found


def finite(value: Any) -> float | None:
    """A number that can be averaged, or None."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def mean_std(values: Iterable[float | None], ddof: int) -> tuple[float | None, float | None]:
    """Mean and standard deviation of those values that are there; independent of their order."""
    there = [value for value in values if value is not None]
    if not there:
        return None, None
    mean = math.fsum(there) / len(there)
    if len(there) <= ddof:
        return mean, None
    squares = math.fsum((value - mean) ** 2 for value in there)
    return mean, math.sqrt(squares / (len(there) - ddof))


def _by_task(trials: Trials) -> list[list[Design]]:
    """Designs per task; tasks sorted by their choices, then by id."""
    at = [trials.varied.index(key) for key in designs.task_keys(trials.varied)]
    found: dict[str, list[Design]] = {}
    for design in designs.designs(trials):
        found.setdefault(design.task, []).append(design)
    return sorted(
        found.values(), key=lambda group: ([order(group[0].cells[i]) for i in at], group[0].task)
    )


def _rank(
    group: Sequence[Design],
    repeats: Sequence[tuple[int, int]],
    column: dict[str, str],
    trials: Trials,
    measured: Sequence[str],
    goals: Sequence[Goal],
) -> Iterator[Row]:
    metric, more_is_better = chooser(r for d in group for r in d.records) or (None, True)
    goals = goals or [(f"val_{metric}", more_is_better)]
    scored: list[tuple[tuple[float, ...], Row]] = []
    unranked: list[Row] = []
    for design in group:
        row = _summary(design, repeats, measured)
        row |= _choices(column, trials.varied, design.cells)
        costs = _costs(design, goals)
        if costs is None:
            unranked.append(row)
        else:
            scored.append((costs, row))
    scored.sort(key=lambda pair: (pair[0][0], pair[1]["design"]))
    front = pareto([costs for costs, _ in scored]) if len(goals) > 1 else ()
    for rank, (_, row) in enumerate(scored, start=1):
        yield {"rank": rank, **row} | ({"pareto": front[rank - 1]} if front else {})
    yield from unranked


def _costs(design: Design, goals: Sequence[Goal]) -> tuple[float, ...] | None:
    """A design's mean per goal, negated where more is better; None if it is not to be ranked."""
    if any(record["status"] == "pruned" for record in design.records):
        return None
    used = counted(design)
    means = [mean_std((finite(r.get(name)) for r in used), ddof=1)[0] for name, _ in goals]
    if any(mean is None for mean in means):
        return None
    signs = [-1 if more_is_better else 1 for _, more_is_better in goals]
    return tuple(sign * mean for sign, mean in zip(signs, means, strict=True) if mean is not None)


def pareto(costs: Sequence[tuple[float, ...]]) -> list[bool]:
    """Which points are on the front: no other is as low everywhere and lower somewhere."""

    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return [not any(beats(other, one) for other in costs) for one in costs]


def _summary(design: Design, repeats: Sequence[tuple[int, int]], measured: Sequence[str]) -> Row:
    used = counted(design)
    finished = {(record["seed"], record["fold"]) for record in used}
    folds = len({fold for _, fold in repeats}) > 1
    lacking = [pair for pair in repeats if pair not in finished]
    row: Row = {
        "design": design.design,
        "task": design.task,
        "n_seeds": len({seed for seed, _ in finished}),
        "missing": " ".join(f"{seed}/{fold}" if folds else str(seed) for seed, fold in lacking),
        "params": next((r["params"] for r in (*used, *design.records) if r.get("params")), None),
        "seconds": _rounded(mean_std((finite(r.get("seconds")) for r in used), ddof=1)[0]),
    }
    for name in (f"{split}_{score}" for split in ("val", "test") for score in (*measured, "loss")):
        mean, std = mean_std((finite(record.get(name)) for record in used), ddof=1)
        row |= {f"{name}_mean": mean, f"{name}_std": std}
    row |= next((_budget(r) for r in (*used, *design.records) if r.get("budget")), {})
    status = Counter(record["status"] for record in design.records)
    return row | {f"n_{name}": status[name] for name in names.STATUSES}


def _choices(column: dict[str, str], varied: Sequence[str], cells: Sequence[Cell]) -> Row:
    return {column[key]: cell for key, cell in zip(varied, cells, strict=True)}


def _budget_columns(records: Iterable[Record]) -> tuple[str, ...]:
    return names.BUDGET if any(record.get("budget") for record in records) else ()


def _budget(record: Record) -> Row:
    """How well the width of a trial's model meets its budget."""
    matched = record.get("budget") or {}
    return {name: matched.get(name.removeprefix("budget_")) for name in names.BUDGET}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _text(name: str, cell: Cell) -> str:
    return (str(cell) if cell is not None else "") if name in names.TEXT else to_text(cell)


def _cell(name: str, text: str) -> Cell:
    return (text or None) if name in names.TEXT else from_text(text)
