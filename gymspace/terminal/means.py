"""Means per choice of each dimension over the ranked designs of one task."""

from collections.abc import Sequence

import pandas as pd

from gymspace.analysis.levels import continuous
from gymspace.results.cells import Cell, order
from gymspace.results.tables import Row, mean_std
from gymspace.results.view import View
from gymspace.terminal.answer import Column, Sheet
from gymspace.terminal.forms import count, level, score

_LEVELS = 12  # choices of a dimension; of more than that there are no means
_COLUMNS = ("dimension", "choice", "designs", "mean_val", "mean_test", "best_val")


def varying(view: View, rows: Sequence[Row]) -> list[str]:
    """The columns of choices that differ among the rows."""
    return [name for name in view.aliases if len({order(row.get(name)) for row in rows}) > 1]


def means(view: View, rows: Sequence[Row], metric: str, high: bool) -> Sheet | None:
    """The means of rows of the leaderboard; None if nothing varies.

    Nothing is held equal here: `rank` compares choices where all else is.
    """
    val, pick = f"val_{metric}_mean", max if high else min
    ranked = [row for row in rows if row.get(val) is not None]
    lines = []
    for name in varying(view, ranked):
        for cell, members in _few(_levels(ranked, name)):
            tested = mean_std((row.get(f"test_{metric}_mean") for row in members), ddof=0)[0]
            mean = mean_std((row[val] for row in members), ddof=0)[0]
            best = pick(row[val] for row in members)
            lines.append((name, cell, len(members), mean, tested, best))
    if not lines:
        return None
    frame = pd.DataFrame(lines, columns=list(_COLUMNS)).astype({"choice": object})
    columns = (
        Column("dimension", "dimension", lambda name: view.aliases[name], "left"),
        Column("choice", "choice", level, "fold"),
        Column("designs", "designs", count),
        Column("mean_val", "mean val", score, best="max" if high else "min"),
        Column("mean_test", "mean test", score),
        Column("best_val", "best val", score),
    )
    title = f"means of {metric} over ranked designs, per choice"
    return Sheet("means", frame, columns, title, group="dimension")


def _few(levels: list[tuple[Cell, list[Row]]]) -> list[tuple[Cell, list[Row]]]:
    """The levels, or none where they are many, or values drawn from a range."""
    many = len(levels) > _LEVELS or continuous(cell for cell, _ in levels)
    return [] if many else levels


def _levels(rows: Sequence[Row], name: str) -> list[tuple[Cell, list[Row]]]:
    found: dict[tuple, list[Row]] = {}
    for row in rows:
        found.setdefault(order(row.get(name)), []).append(row)
    return [(found[at][0].get(name), found[at]) for at in sorted(found)]
