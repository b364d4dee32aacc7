"""Everything that the terminal shows of a sweep, read once from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gymspace.results import designs, names
from gymspace.results.read import Record, read_sweep, read_trials, trial_folders
from gymspace.results.tables import Table, leaderboard_table, trials_table
from gymspace.results.write import goals, repeats


@dataclass(frozen=True)
class View:
    """What a sweep's folder holds at one moment."""

    folder: Path
    records: tuple[Record, ...]
    explicit: Mapping[str, str]
    leaderboard: Table
    unfinished: int

    @cached_property
    def trials(self) -> Table:
        """One row per trial."""
        return trials_table(self.records)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Columns of design choices -> the short names they are shown by."""
        varied, measured = designs.gather(self.records).varied, designs.metrics(self.records)
        column = names.columns(varied, measured)
        short = names.aliases(varied, self.explicit, measured)
        return {column[key]: short[key] for key in varied}

    @property
    def columns(self) -> dict[str, str]:
        """What a user may type for a column of either table -> the column."""
        known = (*self.leaderboard.columns, *self.trials.columns)
        return {short: name for name, short in self.aliases.items()} | {n: n for n in known}

    def best_is_high(self, column: str) -> bool:
        """Whether a column holds a mean or score of a metric that chose epochs by its maximum."""
        by = {r["metric"] for r in self.records if r["metric"] and r["direction"] == "max"}
        scores = {f"{split}_{metric}" for split in names.SPLITS for metric in by}
        return column.removesuffix("_mean") in scores


def load_view(folder: Path) -> View:
    """Read a sweep's folder.

    Raises:
        ConfigError: it is not a sweep's folder.
    """
    sweep, records = read_sweep(folder), read_trials(folder)
    table = leaderboard_table(records, repeats(sweep), goals(sweep))
    unfinished = len(trial_folders(folder)) - len(records)
    return View(folder, tuple(records), sweep.get("aliases") or {}, table, unfinished)
