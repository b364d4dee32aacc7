"""Everything that the terminal shows of a sweep, read once from its folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from gymspace.results import designs, names
from gymspace.results.cache import Kept, read_kept
from gymspace.results.imported import Imported, read_imported
from gymspace.results.packed import Later
from gymspace.results.read import Record, read_sweep
from gymspace.results.tables import Row, Table, judges, trials_table


@dataclass(frozen=True)
class View:
    """What a sweep's folder holds at one moment."""

    folder: Path
    records: Sequence[Record]
    explicit: Mapping[str, str]
    leaderboard: Table
    unfinished: int
    imported: Imported | None = None
    kept: Kept | None = None
    part: "Part | None" = None

    @cached_property
    def trials(self) -> Table:
        """One row per trial; of an imported folder, per mean over repeats."""
        if self.part:
            return self.part.trials
        if self.imported:
            return self.imported.trials
        return self._known.trials if self._known else trials_table(self.records)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Columns of design choices -> the short names they are shown by."""
        if self.part:
            return self.part.whole.aliases
        if self.imported:
            return self.imported.aliases
        known = self._known
        varied = known.varied if known else designs.gather(self.records).varied
        measured = known.metrics if known else designs.metrics(self.records)
        column = names.columns(varied, measured)
        short = names.aliases(varied, self.explicit, measured)
        return {column[key]: short[key] for key in varied}

    @property
    def columns(self) -> dict[str, str]:
        """What a user may type for a column of either table -> the column."""
        known = (*self.leaderboard.columns, *self.trials.columns)
        return {short: name for name, short in self.aliases.items()} | {n: n for n in known}

    @property
    def when(self) -> str:
        """At which epoch the scores were taken."""
        return self.imported.when if self.imported else "at the epoch that is best on validation"

    @property
    def task_columns(self) -> list[str]:
        """Those columns of choices that make the task."""
        if self.imported:
            return self.imported.task_columns
        return designs.task_keys(list(self.aliases))

    @cached_property
    def judges(self) -> Mapping[str, tuple[str, bool]]:
        """The metric that ranks each task, and whether more is better."""
        if self.part:
            tasks = {row["task"] for row in self.trials.rows}
            return {t: judge for t, judge in self.part.whole.judges.items() if t in tasks}
        return self._known.judges if self._known else judges(self.records)

    def best_is_high(self, column: str) -> bool:
        """Whether a column holds a mean or score of a metric that chose epochs by its maximum."""
        by = {metric for metric, high in self.judges.values() if high}
        scores = {f"{split}_{metric}" for split in names.SPLITS for metric in by}
        return column.removesuffix("_mean") in scores

    @property
    def _known(self) -> Kept | None:
        """What was worked out already, unless this is the view of a part of the trials."""
        whole = self.kept is not None and self.kept.records is self.records
        return self.kept if whole else None


@dataclass(frozen=True)
class Part:
    """Some trials of a view; dimensions and their names stay those of the whole."""

    whole: View
    trials: Table


def narrowed(view: View, rows: Sequence[Row]) -> View:
    """The view of some of its trials, given as rows; the leaderboard stays that of all."""
    part = Part(view, Table(view.trials.columns, tuple(rows)))
    ids = {(row["task"], row["trial"]) for row in rows}

    def records() -> list[Record]:
        return [record for record in view.records if (record["task"], record["trial"]) in ids]

    return replace(view, records=Later(len(rows), records), part=part)


def load_view(folder: Path, rule: str | None = None, write: bool = True) -> View:
    """Read a sweep's folder, or an imported one, there under a ``rule`` of choosing epochs.

    Of a large sweep a cache is kept in its folder, unless nothing is to be written there.

    Raises:
        ConfigError: it is not a sweep's folder.
    """
    sweep = read_sweep(folder)
    if "imported" in sweep:
        imported = read_imported(folder, sweep, rule)
        return View(folder, imported.records, {}, imported.leaderboard(), 0, imported)
    return view_of(folder, read_kept(folder, sweep, write))


def view_of(folder: Path, kept: Kept) -> View:
    """The view of a sweep whose trials are read."""
    explicit = kept.sweep.get("aliases") or {}
    unfinished = kept.reading.unfinished
    return View(folder, kept.records, explicit, kept.leaderboard, unfinished, kept=kept)
