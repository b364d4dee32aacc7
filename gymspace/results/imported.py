"""A folder of imported means: trials run elsewhere, of which only tables over repeats are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.results import names
from gymspace.results.tables import Row, Table, load_table

FILE = "imported.csv"
SPREADS = ("std", "popstd")  # of a sample (ddof 1), or of a population of unknown size (ddof 0)
_KEYS = {"rules", "metrics", "columns", "task", "probe"}
RULE = {"": "last", "_best": "best", "_bestepoch": "bestepoch"}  # GraphGym's suffix -> our word
_WHEN = {
    "last": "at the last epoch",
    "best": "at the epoch that is best on validation",
    "bestepoch": "at the epoch whose mean is best on validation",
}


@dataclass(frozen=True)
class Imported:
    """The rows of `imported.csv` under one rule of choosing epochs, and what `sweep.json` says.

    A row is the mean over all repeats of a design on a task. ``status`` is ``done`` or ``diverged``
    of the mean as a whole; what each repeat did is not known, so there is no row per seed.
    """

    about: Mapping[str, Any]
    table: Table

    @property
    def aliases(self) -> dict[str, str]:
        """Columns of choices, of design and task -> their names where they come from."""
        return dict(self.about["columns"])

    @property
    def task_columns(self) -> list[str]:
        """The columns of choices that make the task."""
        return list(self.about["task"])

    @property
    def when(self) -> str:
        """At which epoch the scores were taken."""
        return _WHEN[self.table.rows[0]["rule"]]

    @property
    def records(self) -> tuple[Row, ...]:
        """The rows with the metric that ranks each task, under the keys of a trial's record."""
        chosen = self._metrics()
        return tuple(
            {
                **row,
                "trial": row["design"],
                "seed": None,
                "fold": None,
                "metric": chosen[row["task"]],
                "direction": "max" if names.more_is_better(chosen[row["task"]]) else "min",
            }
            for row in self.table.rows
        )

    @property
    def trials(self) -> Table:
        """The rows under the columns of a table of trials: no seed, no fold."""
        columns = dict.fromkeys(("trial", "design", "task", "seed", "fold", *self.table.columns))
        return Table(tuple(name for name in columns if name != "rule"), self.records)

    def leaderboard(self) -> Table:
        """One row per task and design; a rank for those that are done and have a value."""
        ranked: list[Row] = []
        records = sorted(self.records, key=lambda record: (record["task"], record["design"]))
        for task in dict.fromkeys(record["task"] for record in records):
            ranked += _ranked([record for record in records if record["task"] == task])
        scores = [
            f"{split}_{name}_{part}"
            for name in (*self.about["metrics"], "loss")
            for split in ("val", "test")
            for part in ("mean", *SPREADS)
        ]
        there = [name for name in scores if any(row.get(name) is not None for row in ranked)]
        own = [name for name in (self.about["probe"],) if name]
        head = ("rank", "design", "task", "status", *own, *self.aliases, "n_seeds", "missing")
        return Table((*head, *there, "params", "n_done"), tuple(ranked))

    def _metrics(self) -> dict[str, str]:
        """The metric of each task: the first that any of its rows has a validation value of."""
        found: dict[str, str] = {}
        for metric in reversed(self.about["metrics"]):
            for row in self.table.rows:
                if row.get(f"val_{metric}") is not None:
                    found[row["task"]] = metric
        return {row["task"]: self.about["metrics"][0] for row in self.table.rows} | found


def read_imported(folder: Path, sweep: Mapping[str, Any], rule: str | None = None) -> Imported:
    """Read an imported folder; ``rule`` is one of those in its `sweep.json`, by default its first.

    Raises:
        ConfigError: the table is missing or damaged, or has no such rule.
    """
    about = sweep["imported"]
    if not isinstance(about, dict) or not about.keys() >= _KEYS:
        raise ConfigError("results", "sweep.json is damaged; import it anew", value=folder)
    wanted = about["rules"][0] if rule is None else rule
    if wanted not in about["rules"]:
        raise ConfigError("rule", "unknown choice", value=rule, choices=about["rules"])
    table = load_table(folder / FILE)
    rows = tuple(row for row in table.rows if row.get("rule") == wanted)
    if not rows:
        raise ConfigError("results", f"has no row with rule={wanted}", value=folder / FILE)
    return Imported(about, Table(table.columns, rows))


def _ranked(records: Sequence[Row]) -> list[Row]:
    column = f"val_{records[0]['metric']}"
    sign = -1 if records[0]["direction"] == "max" else 1
    rows = [_board_row(record) for record in records]
    scored = [
        (sign * record[column], at)
        for at, record in enumerate(records)
        if record["status"] == "done" and record.get(column) is not None
    ]
    order = [at for _, at in sorted(scored)]
    rest = [row for at, row in enumerate(rows) if at not in set(order)]
    return [{**rows[at], "rank": rank} for rank, at in enumerate(order, start=1)] + rest


def _board_row(record: Row) -> Row:
    row = dict(record)
    for name in record:
        if name.split("_")[0] in names.SPLITS and not name.endswith(SPREADS):
            row[f"{name}_mean"] = row.pop(name)
    # Of a mean that diverged it is not known how many of its repeats did.
    done = record["n_seeds"] if record["status"] == "done" else None
    return {**row, "missing": "", "n_done": done}
