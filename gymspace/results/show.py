"""A sweep in the terminal: its best designs, its dimensions, its failures, its files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from gymspace.results import designs, names
from gymspace.results.cells import Cell, order, to_text
from gymspace.results.layout import grid, number, plus_minus, print_fitting
from gymspace.results.tables import Row, chooser, mean_std
from gymspace.results.view import View, load_view

TROUBLE = ("failed", "diverged", "timeout")
_LEVELS = 12  # a dimension with more choices than that has no table of means
_GROUPS = 5


def summary(folder: Path, console: Console, top: int = 10) -> None:
    """Print a sweep: counts, the ``top`` designs, means per dimension, failures, files.

    Raises:
        ConfigError: it is not a sweep's folder.
    """
    view = load_view(folder)
    print_summary(view, view.leaderboard.rows, console, top)


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
        console.print("\nmeans per dimension: choose a task, as in --where task=ID", style="dim")
    _print_reasons(view, console)
    _print_files(view.folder, console)


def print_failures(view: View, rows: Sequence[Row], console: Console) -> None:
    """Print every given row of the table of trials with its reason."""
    console.print(_headline(view))
    table = grid(("trial", "left"), ("status", "left"), ("design", "left"), ("seed", "right"))
    table.add_column("reason", overflow="fold")
    for row in rows:
        choices = _choices(row, view.aliases)
        reason = Text(row.get("error") or "(no reason given)")
        table.add_row(row["trial"], row["status"], choices, str(row["seed"]), reason)
    if rows:
        console.print()
        console.print(table)
        console.print(f"\nlogs: {view.folder}/trials/TRIAL/trial.log", style="dim", soft_wrap=True)
    else:
        console.print("\nno trial failed, diverged or timed out")


def in_trouble(rows: Sequence[Row]) -> list[Row]:
    """Those rows of the table of trials that ended badly."""
    return [row for row in rows if row["status"] in TROUBLE]


def _headline(view: View) -> Text:
    status = Counter(record["status"] for record in view.records)
    counts = [f"{status[name]} {name}" for name in names.STATUSES if status[name]]
    counts += [f"{view.unfinished} unfinished"] if view.unfinished else []
    n_designs = len({record["design"] for record in view.records})
    text = Text(view.folder.resolve().name, style="bold")
    line = f"  {n_designs} designs, {len(view.records)} trials: {', '.join(counts) or 'none'}"
    return text.append(line, style="not bold")


def _print_task(view: View, rows: Sequence[Row], console: Console, top: int, several: bool) -> None:
    by = _metric(view, rows[0]["task"])
    if by is None:
        console.print("\nno design has a finished trial")
        return
    metric, more_is_better = by
    better = "higher" if more_is_better else "lower"
    about = _task_label(view, rows[0]) if several else ""
    line = f"{metric} ({better} is better) at the epoch that is best on validation, mean ± std"
    console.print(f"\n{about}{line}", style="dim", highlight=False)
    shown = rows[:top]
    varied = _varying(view, rows)
    wide = _designs(shown, metric, {name: view.aliases[name] for name in varied}, fold=False)
    compact = _designs(shown, metric, {name: view.aliases[name] for name in varied}, fold=True)
    print_fitting(console, wide, compact)
    if len(rows) > top:
        console.print(f"  and {len(rows) - top} more designs", style="dim", highlight=False)


def _designs(rows: Sequence[Row], metric: str, short: Mapping[str, str], fold: bool) -> Any:
    numeric = {name for name in short if all(_is_number(row.get(name)) for row in rows)}
    choices = [(short[name], "right" if name in numeric else "left") for name in short]
    scores = [(f"val {metric}", "right"), (f"test {metric}", "right"), ("seeds", "right")]
    head = [("rank", "right"), *([("choices", "left")] if fold else choices), *scores]
    table = grid(*head, ("params", "right"), ("seconds", "right"))
    for row in rows:
        cells = [_choices(row, short)] if fold else [_cell(row.get(name)) for name in short]
        table.add_row(
            number(row.get("rank")),
            *cells,
            plus_minus(row.get(f"val_{metric}_mean"), row.get(f"val_{metric}_std")),
            plus_minus(row.get(f"test_{metric}_mean"), row.get(f"test_{metric}_std")),
            _seeds(row),
            number(row.get("params")),
            number(row.get("seconds"), digits=1),
        )
    return table


def _print_dimensions(view: View, rows: Sequence[Row], console: Console) -> None:
    by = _metric(view, rows[0]["task"])
    ranked = [row for row in rows if row.get("rank") is not None]
    varied = _varying(view, ranked)
    if by is None or not varied:
        return
    metric, more_is_better = by
    table = grid(("dimension", "left"), ("choice", "right"), ("designs", "right"))
    for name in ("mean val", "mean test", "best val"):
        table.add_column(f"{name} {metric}" if name == "mean val" else name, justify="right")
    for name in varied:
        _add_dimension(table, view.aliases[name], _levels(ranked, name), metric, more_is_better)
    console.print("\nmeans over ranked designs, per choice", style="dim")
    console.print(table)


def _add_dimension(
    table: Any, title: str, levels: list[tuple[Cell, list[Row]]], metric: str, more: bool
) -> None:
    if len(levels) > _LEVELS:
        table.add_row(title, f"({len(levels)} values)")
        return
    val, test = f"val_{metric}_mean", f"test_{metric}_mean"
    pick = max if more else min
    means = [mean_std((row.get(val) for row in rows), ddof=0)[0] for _, rows in levels]
    best = pick(mean for mean in means if mean is not None)
    for i, ((cell, rows), mean) in enumerate(zip(levels, means, strict=True)):
        test_mean, _ = mean_std((row.get(test) for row in rows), ddof=0)
        top = number(pick(row[val] for row in rows), digits=4)
        style = "bold" if mean == best else ""
        parts = (len(rows), number(mean, digits=4), number(test_mean, digits=4), top)
        table.add_row(
            title if i == 0 else "",
            Text(_cell(cell), style=style),
            *(Text(str(part), style=style) for part in parts),
            end_section=i == len(levels) - 1,
        )


def _print_reasons(view: View, console: Console) -> None:
    bad = in_trouble(view.records)
    if not bad:
        return
    groups = Counter((record["status"], record["error"] or "(no reason given)") for record in bad)
    ordered = sorted(groups.items(), key=lambda item: (-item[1], item[0]))
    table = grid(("trials", "right"), ("status", "left"))
    table.add_column("reason", no_wrap=True, overflow="ellipsis")
    for (status, reason), times in ordered[:_GROUPS]:
        table.add_row(str(times), status, Text(reason))
    console.print("\ntrials that ended badly", style="dim")
    console.print(table)
    command = f"python -m gymspace.results failures {view.folder}"
    more = f"{len(ordered) - _GROUPS} more reasons; " if len(ordered) > _GROUPS else ""
    console.print(f"  {more}one by one: {command}", style="dim", soft_wrap=True, highlight=False)


def _print_files(folder: Path, console: Console) -> None:
    files = ("leaderboard.csv", "trials.csv", "agg", "report.html", "trials")
    there = [folder / name for name in files if (folder / name).exists()]
    texts = [f"{path}/" if path.is_dir() else str(path) for path in there]
    console.print(f"\nfiles: {'  '.join(texts)}", style="dim", highlight=False, soft_wrap=True)


def _metric(view: View, task: str) -> tuple[str, bool] | None:
    return chooser(record for record in view.records if record["task"] == task)


def _task_label(view: View, row: Row) -> str:
    spec = next(record["spec"] for record in view.records if record["task"] == row["task"])
    known = {
        view.aliases.get(key, key): row.get(key) for key in designs.task_keys(list(view.aliases))
    }
    known = known or {"dataset": spec.get("dataset")}
    return f"task {row['task']} ({', '.join(f'{k}={_cell(v)}' for k, v in known.items())}): "


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


def _seeds(row: Row) -> str:
    missing = len(row["missing"].split())
    return str(row["n_done"]) if not missing else f"{row['n_done']}/{row['n_done'] + missing}"


def _cell(cell: Cell) -> str:
    return "-" if cell is None else to_text(cell)


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))
