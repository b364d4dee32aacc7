"""A sweep in the terminal: its best designs, its dimensions, its failures, its files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gymspace.records import RESULT, read_json
from gymspace.results import designs, names
from gymspace.results.cells import Cell, level, order, to_text
from gymspace.results.layout import Side, add, grid, note, number, plus_minus, print_fitting
from gymspace.results.tables import Row, chooser, mean_std
from gymspace.results.view import View, load_view

TROUBLE = ("failed", "diverged", "timeout")
FRONT = "*"
_LEVELS = 12  # a dimension with more choices than that has no table of means
_GROUPS = 5
_LONG = 8  # characters of a float beyond which 4 digits are shown
_COSTS = ("params", "seconds")
_FILES = ("leaderboard.csv", "trials.csv", "agg/", "report.html", "trials/")


def summary(folder: Path, console: Console, top: int = 10) -> None:
    """Print a sweep: counts, the ``top`` designs, means per dimension, failures, files.

    Raises:
        ConfigError: it is not a sweep's folder.
    """
    view = load_view(folder)
    print_summary(view, view.leaderboard.rows, console, top)


def show_trial(folder: Path, console: Console, trial: str) -> None:
    """Print how one trial ended, its scores at its best epoch and where its files are."""
    path = folder / "trials" / trial
    result = read_json(path / RESULT)
    if result is None:
        return
    if result.get("status") != "done":
        console.print(f"{result.get('status')}: {result.get('error')}", markup=False)
    else:
        metric = result["metric"]
        scores = "  ".join(f"{split} {result[f'{split}_{metric}']:.4f}" for split in names.SPLITS)
        size = f"{result['params']:,} parameters, {result['seconds']:.1f} s"
        console.print(f"{metric} at epoch {result['best_epoch']}, the best one on validation:")
        console.print(f"  {scores}   ({size}, {result['split']})", highlight=False, soft_wrap=True)
    note(console, f"files in {path}")


def print_summary(view: View, rows: Sequence[Row], console: Console, top: int) -> None:
    """Print the given rows of the leaderboard, task by task, and what belongs to all of them."""
    console.print(_headline(view))
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    for task in tasks:
        here = [row for row in rows if row["task"] == task]
        _print_task(view, here, console, top, several=len(tasks) > 1)
    if len(tasks) == 1:
        _print_dimensions(view, rows, console)
    elif tasks:
        note(console, "\nmeans per dimension: choose a task, as in --where task=ID")
    _print_reasons(view, console)
    _print_files(view.folder, console)


def print_failures(view: View, rows: Sequence[Row], console: Console) -> None:
    """Print every given row of the table of trials with its reason."""
    console.print(_headline(view))
    head: list[tuple[str, Side]] = [("trial", "left"), ("status", "left"), ("design", "fold")]
    table = grid(*head, ("seed", "right"), ("reason", "fold"))
    for row in rows:
        choices = _choices(row, view.aliases)
        reason = row["error"] or "(no reason given)"
        add(table, row["trial"], row["status"], choices, str(row["seed"]), reason)
    if rows:
        console.print()
        console.print(table)
        note(console, f"\nlogs: {view.folder}/trials/TRIAL/trial.log")
    else:
        console.print("\nno trial failed, diverged or timed out")


def in_trouble(rows: Sequence[Row]) -> list[Row]:
    """Those rows of the table of trials that ended badly."""
    return [row for row in rows if row["status"] in TROUBLE]


def _headline(view: View) -> Text:
    status = Counter(record["status"] for record in view.records)
    counts = [f"{status[name]} {name}" for name in names.STATUSES if status[name]]
    counts += [f"{view.unfinished} unfinished"] if view.unfinished else []
    n_designs, n_tasks = (len({r[key] for r in view.records}) for key in ("design", "task"))
    parts = [_count(n_designs, "design") + (f" on {n_tasks} tasks" if n_tasks > 1 else "")]
    parts += [_count(len(view.records), "trial")]
    text = Text(view.folder.resolve().name, style="bold")
    line = f"  {', '.join(parts)}: {', '.join(counts)}"
    return text.append(line, style="not bold")


def _print_task(view: View, rows: Sequence[Row], console: Console, top: int, several: bool) -> None:
    by = _metric(view, rows[0]["task"])
    if by is None or all(row.get("rank") is None for row in rows):
        console.print("\nno design has a finished trial")
        return
    metric, more_is_better = by
    better = "higher" if more_is_better else "lower"
    about = _task_label(view, rows[0]) if several else ""
    line = f"{metric} ({better} is better) at the epoch that is best on validation, mean ± std"
    note(console, f"\n{about}{line}")
    short = {name: view.aliases[name] for name in _varying(view, rows)}
    forms = ((False, _COSTS), (True, _COSTS), (True, ()))
    print_fitting(console, *(_designs(rows[:top], metric, short, *form) for form in forms))
    if len(rows) > top:
        note(console, f"  and {len(rows) - top} more")
    if any(row.get("pareto") for row in rows):
        note(console, f"  {FRONT} no other design is as good in all objectives and better in one")


def _designs(
    rows: Sequence[Row], metric: str, short: Mapping[str, str], fold: bool, costs: Sequence[str]
) -> Table:
    numeric = {name for name in short if all(_is_number(row.get(name)) for row in rows)}
    head: list[tuple[str, Side]] = [("choices", "fold")]
    if not fold:
        head = [(short[name], "right" if name in numeric else "left") for name in short]
    results = (f"val {metric}", f"test {metric}", "seeds", *costs)
    table = grid(("rank", "right"), *head, *((name, "right") for name in results))
    for row in rows:
        choices = [_choices(row, short)] if fold else [_cell(row.get(name)) for name in short]
        scores = (
            plus_minus(row.get(f"{split}_{metric}_mean"), row.get(f"{split}_{metric}_std"))
            for split in ("val", "test")
        )
        known = {"params": number(row.get("params")), "seconds": number(row.get("seconds"), 1)}
        costly = (known[name] for name in costs)
        rank = number(row.get("rank")) + FRONT * bool(row.get("pareto"))
        add(table, rank, *choices, *scores, _seeds(row), *costly)
    return table


def _print_dimensions(view: View, rows: Sequence[Row], console: Console) -> None:
    by = _metric(view, rows[0]["task"])
    ranked = [row for row in rows if row.get("rank") is not None]
    varied = _varying(view, ranked)
    if by is None or not varied:
        return
    metric, more_is_better = by
    results = ("designs", "mean val", "mean test", "best val")
    head: list[tuple[str, Side]] = [("dimension", "left"), ("choice", "fold")]
    table = grid(*head, *((name, "right") for name in results))
    for name in varied:
        _add_dimension(table, view.aliases[name], _levels(ranked, name), metric, more_is_better)
    note(console, f"\nmeans of {metric} over ranked designs, per choice")
    console.print(table)


def _add_dimension(
    table: Table, title: str, levels: list[tuple[Cell, list[Row]]], metric: str, more: bool
) -> None:
    if len(levels) > _LEVELS:
        add(table, title, f"({len(levels)} values)")
        return
    val, test = f"val_{metric}_mean", f"test_{metric}_mean"
    pick = max if more else min
    means = [mean_std((row.get(val) for row in rows), ddof=0)[0] for _, rows in levels]
    best = pick(mean for mean in means if mean is not None)
    for i, ((cell, rows), mean) in enumerate(zip(levels, means, strict=True)):
        test_mean, _ = mean_std((row.get(test) for row in rows), ddof=0)
        top = number(pick(row[val] for row in rows), digits=4)
        parts = (number(mean, digits=4), number(test_mean, digits=4), top)
        add(
            table,
            title if i == 0 else "",
            _cell(cell),
            str(len(rows)),
            *parts,
            style="bold" if mean == best else "",
            last=i == len(levels) - 1,
        )


def _print_reasons(view: View, console: Console) -> None:
    bad = in_trouble(view.records)
    if not bad:
        return
    groups = Counter((record["status"], record["error"] or "(no reason given)") for record in bad)
    ordered = sorted(groups.items(), key=lambda item: (-item[1], item[0]))
    table = grid(("trials", "right"), ("status", "left"), ("reason", "fold"))
    for (status, reason), times in ordered[:_GROUPS]:
        add(table, str(times), status, reason)
    note(console, "\ntrials that ended badly")
    console.print(table)
    command = f"python -m gymspace.results failures {view.folder}"
    more = f"{len(ordered) - _GROUPS} more reasons; " if len(ordered) > _GROUPS else ""
    note(console, f"  {more}one by one: {command}")


def _print_files(folder: Path, console: Console) -> None:
    there = [name for name in _FILES if (folder / name.strip("/")).exists()]
    note(console, f"\nfiles in {folder}: {'  '.join(there)}")


def _metric(view: View, task: str) -> tuple[str, bool] | None:
    return chooser(record for record in view.records if record["task"] == task)


def _task_label(view: View, row: Row) -> str:
    spec = next(record["spec"] for record in view.records if record["task"] == row["task"])
    keys = designs.task_keys(list(view.aliases))
    known = {view.aliases[key]: row.get(key) for key in keys}
    known = known or {"dataset": level(spec.get("dataset"))}
    return f"task {row['task']}: {' '.join(f'{k}={_cell(v)}' for k, v in known.items())}\n"


def _varying(view: View, rows: Sequence[Row]) -> list[str]:
    return [name for name in view.aliases if len({order(row.get(name)) for row in rows}) > 1]


def _levels(rows: Sequence[Row], name: str) -> list[tuple[Cell, list[Row]]]:
    found: dict[tuple, list[Row]] = {}
    for row in rows:
        found.setdefault(order(row.get(name)), []).append(row)
    return [(found[at][0].get(name), found[at]) for at in sorted(found)]


def _choices(row: Row, short: Mapping[str, str]) -> str:
    there = {alias: row.get(name) for name, alias in short.items()}
    return " ".join(f"{alias}={_cell(cell)}" for alias, cell in there.items() if cell is not None)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _seeds(row: Row) -> str:
    missing = len(row["missing"].split())
    return str(row["n_done"]) if not missing else f"{row['n_done']}/{row['n_done'] + missing}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    text = to_text(cell)
    return f"{cell:.4g}" if isinstance(cell, float) and len(text) > _LONG else text


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
