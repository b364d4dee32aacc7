"""The leaderboard of the report: columns and rows for a table that sorts and filters itself."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gymspace.analysis.levels import continuous, text
from gymspace.report.parts import Section, counted
from gymspace.results.cells import Cell, order
from gymspace.results.tables import Row
from gymspace.results.view import View

MOST = 10_000  # rows
_FILTERS = 12  # choices of a dimension, to be offered in a list
_BAD = ("n_failed", "n_diverged", "n_timeout")

Metrics = Mapping[str, tuple[str, bool]]


def leaderboard(
    view: View, metrics: Metrics, tasks: Mapping[str, str], curves: Collection[str]
) -> Section:
    """Every design, the best first; of very many the best ones of each task.

    ``tasks`` are the names of tasks, ``curves`` the ``task/design`` whose curves are on the page.
    """
    rows = _best(view.leaderboard.rows, len(tasks))
    several = len(tasks) > 1
    names = list(dict.fromkeys(name for name, _ in metrics.values()))
    choices = {
        name: alias
        for name, alias in view.aliases.items()
        if not (several and name in view.task_columns)
        and len({order(row.get(name)) for row in rows}) > 1
    }
    columns: list[dict[str, Any]] = [{"title": "rank", "kind": "number"}]
    front = any(row.get("pareto") is not None for row in rows)
    columns += [{"title": "front", "kind": "text"}] if front else []
    columns += [{"title": "curves", "kind": "curves"}] if curves else []
    columns += [{"title": "task", "kind": "text"}] if several else []
    columns += [{"title": "metric", "kind": "text"}] if len(names) > 1 else []
    what = names[0] if len(names) == 1 else "score"
    splits = [split for split in ("val", "test") if any(_score(r, split, metrics) for r in rows)]
    high = all(is_high for _, is_high in metrics.values())
    columns += [{"title": f"{split} {what}", "kind": "score", "high": high} for split in splits]
    columns += [_choice(alias, [row.get(name) for row in rows]) for name, alias in choices.items()]
    columns += [{"title": "seeds", "kind": "seeds"}]
    bad = any(row.get(name) for row in rows for name in _BAD)
    columns += [{"title": "failed", "kind": "number"}] if bad else []
    costs = [name for name in ("params", "seconds") if any(row.get(name) for row in rows)]
    columns += [{"title": name, "kind": "number"} for name in costs]
    columns += [{"title": "design", "kind": "text"}]
    made = [
        [
            row.get("rank"),
            *(["*" if row.get("pareto") else ""] if front else []),
            *([_curves(row, curves)] if curves else []),
            *([tasks.get(row["task"], row["task"])] if several else []),
            *([metrics.get(row["task"], [""])[0]] if len(names) > 1 else []),
            *(_score(row, split, metrics) for split in splits),
            *(_shown(row.get(name)) for name in choices),
            _seeds(row),
            *([sum(row.get(name) or 0 for name in _BAD)] if bad else []),
            *(row.get(name) for name in costs),
            row["design"],
        ]
        for row in rows
    ]
    data = {"columns": columns, "rows": made}
    return Section("leaderboard", "Leaderboard", _words(view, rows, metrics), data=data)


def _words(view: View, rows: Sequence[Row], metrics: Metrics) -> list[str]:
    better = {
        f"{name} ({'higher' if high else 'lower'} is better)" for name, high in metrics.values()
    }
    words = [
        f"Ranked by the mean validation {', '.join(sorted(better))} {view.when}, ± the standard "
        "deviation over repeats. The test score is that of the same epoch."
    ]
    whole = len(view.leaderboard.rows)
    if len(rows) < whole:
        words.append(
            f"The best {len(rows):,} of {counted(whole, 'design')} are here; all of them are in "
            "leaderboard.csv."
        )
    return words


def _best(rows: Sequence[Row], tasks: int) -> list[Row]:
    """The first rows of each task, as many as fit."""
    share = MOST // max(tasks, 1)
    seen: dict[str, int] = {}
    kept = []
    for row in rows:
        seen[row["task"]] = seen.get(row["task"], 0) + 1
        if seen[row["task"]] <= share:
            kept.append(row)
    return kept


def _choice(title: str, cells: Sequence[Cell]) -> dict[str, Any]:
    numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells)
    known = {order(cell): cell for cell in cells}
    offered = len(known) <= _FILTERS and not continuous(known.values())
    some = [_shown(known[key]) for key in sorted(known)] if offered else []
    return {"title": title, "kind": "choice", "numeric": numeric, "choices": some}


def _shown(cell: Cell) -> Any:
    """Numbers stay numbers, all else is text."""
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        return text(cell)
    return cell


def _score(row: Row, split: str, metrics: Metrics) -> list[Any] | None:
    name = f"{split}_{metrics[row['task']][0]}" if row["task"] in metrics else ""
    mean = row.get(f"{name}_mean")
    if mean is None:
        return None
    std = row.get(f"{name}_std")
    return [mean, row.get(f"{name}_popstd") if std is None else std]


def _seeds(row: Row) -> list[Any]:
    done = row.get("n_done")
    if done is None:
        return [0, "?"]
    missing = len((row.get("missing") or "").split())
    return [done, f"{done}/{done + missing}" if missing else str(done)]


def _curves(row: Row, curves: Collection[str]) -> str:
    """What the curves of the page know a design by, if they are there."""
    key = f"{row['task']}/{row['design']}"
    return key if key in curves else ""
