"""What a folder holds, in one line, and where."""

from collections import Counter
from pathlib import Path

from gymspace.results import names
from gymspace.results.view import View

_FILES = ("imported.csv", "leaderboard.csv", "trials.csv", "agg/", "report.html", "trials/")


def headline(view: View) -> str:
    """Name, number of designs and tasks, how many trials ended how."""
    rows = view.trials.rows
    status = Counter(row["status"] for row in rows)
    counts = [f"{status[name]} {name}" for name in names.STATUSES if status[name]]
    counts += [f"{view.unfinished} unfinished"] if view.unfinished else []
    n_designs, n_tasks = (len({row[key] for row in rows}) for key in ("design", "task"))
    on = f" on {n_tasks} tasks" if n_tasks > 1 else ""
    rest = " over repeats" if view.imported else ""
    what = "mean" if view.imported else "trial"
    parts = f"{counted(n_designs, 'design')}{on}, {counted(len(rows), what)}{rest}"
    return f"{view.folder.resolve().name}  {parts}: {', '.join(counts)}"


def counted(n: int, noun: str) -> str:
    """A number and its noun: ``1 trial``, ``2 trials``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def files(folder: Path) -> str:
    """Which files are there."""
    there = [name for name in _FILES if (folder / name.strip("/")).exists()]
    return f"files in {folder}: {'  '.join(there)}"
