"""How trials ended badly: status and reason, counted, with one trial of each."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence

import pandas as pd

from gymspace.results.cells import to_text
from gymspace.results.frames import frame
from gymspace.results.tables import Row, Table
from gymspace.results.view import View
from gymspace.terminal.answer import Answer, Column, Sheet, text_column
from gymspace.terminal.asked import pick, reading, write
from gymspace.terminal.forms import count, words
from gymspace.terminal.headline import headline

TROUBLE = ("failed", "diverged", "timeout")
_NONE = "(no reason given)"


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    parser.add_argument("--each", action="store_true", help="every such trial, one by one")


def run(asked: Namespace) -> None:
    """Print the answer."""
    view = pick(asked)
    write(asked, each(view) if asked.each else answer(view))


def answer(view: View) -> Answer:
    """The reasons, most frequent first."""
    found = reasons(view.trials.rows)
    if found.empty:
        return Answer(headline(view), (), ("no trial failed, diverged or timed out",))
    said = (
        f"one by one: python -m gymspace.results failures {view.folder} --each",
        *_logs(view),
    )
    return Answer(headline(view), (sheet(found),), said)


def each(view: View) -> Answer:
    """Every trial that ended badly, with all its columns."""
    bad = [row for row in view.trials.rows if row["status"] in TROUBLE]
    if not bad:
        return answer(view)
    table = frame(Table(view.trials.columns, tuple(bad)))
    made = table.assign(_choices=[_choices(row, view) for row in bad])
    columns = (
        text_column("trial"),
        text_column("status"),
        Column("_choices", "design", words, "fold"),
        Column("seed", "seed", count),
        Column("error", "reason", lambda reason: reason or _NONE, "fold"),
    )
    return Answer(headline(view), (Sheet("trials", made, columns),), _logs(view))


def reasons(rows: Iterable[Row]) -> pd.DataFrame:
    """``trials``, ``status``, ``reason`` and the id of one such ``trial``, most frequent first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["status"] in TROUBLE:
            reason = (row["status"], row["error"] or _NONE)
            groups.setdefault(reason, []).append(row["trial"])
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    found = [(len(trials), *reason, min(trials)) for reason, trials in ordered]
    return pd.DataFrame(found, columns=["trials", "status", "reason", "trial"])


def sheet(found: pd.DataFrame, title: str = "", rows: int | None = None) -> Sheet:
    """The table of what `reasons` found."""
    columns = (
        Column("trials", "trials", count),
        text_column("status"),
        text_column("reason", fold=True),
        text_column("trial", "for example"),
    )
    return Sheet("failures", found, columns, title, rows=rows)


def _logs(view: View) -> tuple[str, ...]:
    return () if view.imported else (f"logs: {view.folder}/trials/TRIAL/trial.log",)


def _choices(row: Row, view: View) -> str:
    pairs: Sequence = [(short, row.get(name)) for name, short in view.aliases.items()]
    return " ".join(f"{short}={to_text(cell)}" for short, cell in pairs if cell is not None)
