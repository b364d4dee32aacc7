"""A sweep's result files -> its tables on disk, each replaced as a whole."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.records import write_atomic
from gymspace.results.agg import agg_tables
from gymspace.results.read import read_sweep, read_trials
from gymspace.results.tables import Goal, Table, leaderboard_table, trials_table


def write_tables(folder: Path) -> None:
    """Write `trials.csv`, `leaderboard.csv` and `agg/*.csv` of the sweep in ``folder``.

    The files depend on the set of the trials' result files and on `sweep.json`, on nothing else.

    Raises:
        ConfigError: ``folder`` is not a sweep's folder or cannot be written, or an alias is taken.
    """
    sweep, records = read_sweep(folder), read_trials(folder)
    agg = agg_tables(folder, records, sweep.get("aliases") or {})
    tables: dict[str, Table] = {f"agg/{name}.csv": table for name, table in agg.items()}
    tables["trials.csv"] = trials_table(records)
    tables["leaderboard.csv"] = leaderboard_table(records, repeats(sweep), goals(sweep))
    try:
        for name, table in tables.items():
            _replace(folder / name, table.csv())
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError("results", problem, value=folder) from error


def repeats(sweep: Mapping[str, Any]) -> Sequence[tuple[int, int]] | None:
    """The (seed, fold) pairs that a sweep asks of every design; None if it does not say."""
    if not sweep.get("seeds"):
        return None
    return list(product(sweep["seeds"], sweep.get("folds") or [0]))


def goals(sweep: Mapping[str, Any]) -> Sequence[Goal]:
    """What a search of the sweep was after; empty if there was none."""
    return [(name, direction == "maximize") for name, direction in sweep.get("objectives") or ()]


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    content = text.encode("utf-8", "backslashreplace")
    write_atomic(path, lambda part: part.write_bytes(content))
