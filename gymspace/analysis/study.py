"""A sweep as the analyses take it: one row per trial that counts, its score, its choices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from gymspace.analysis.levels import Levels, combine, encode, text
from gymspace.errors import ConfigError
from gymspace.results.names import more_is_better

_OWN = ("task", "design", "seed", "fold", "status", "score", "gain")
_PER_DESIGN = ("std", "n")


@dataclass(frozen=True)
class Score:
    """The column that a task is judged by, and whether more is better."""

    column: str
    high: bool


@dataclass(frozen=True)
class Study:
    """Trials with a score, one per row of ``frame``, and what varies among them.

    Columns of ``frame``: ``task``, ``design``, ``seed``, ``fold``, ``status``, ``score`` (as
    measured), ``gain`` (the score, negated where less is better: more is always better), then
    ``dimensions`` and everything else that the input had.

    ``left_out`` counts the trials that are not in ``frame``, by status; those that are done but
    have no score are under ``without score``. ``probe`` is a column that says which dimension a row
    was drawn to vary (a controlled draw); ``blocks`` are further columns that matched trials share.
    ``folds`` is the k of each task whose column ``fold`` numbers the parts of a k-fold split.
    """

    frame: pd.DataFrame
    dimensions: tuple[str, ...]
    scores: Mapping[str, Score]
    aliases: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    probe: str | None = None
    blocks: tuple[str, ...] = ()
    folds: Mapping[str, int] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """What is measured: the score's column, or all of them where tasks have several."""
        return ", ".join(dict.fromkeys(score.column for score in self.scores.values()))

    def alias(self, dimension: str) -> str:
        """The short name of a dimension."""
        return self.aliases.get(dimension, dimension)

    def task_name(self, task: str) -> str:
        """What is to be learnt in a task, in words."""
        return self.tasks.get(task, task)

    def dimension(self, name: str) -> str:
        """The dimension that a column's name or an alias stands for.

        Raises:
            ConfigError: there is none.
        """
        known = {self.alias(key): key for key in self.dimensions} | {k: k for k in self.dimensions}
        if name not in known:
            names = [self.alias(key) for key in self.dimensions]
            raise ConfigError("dimension", "no such dimension", value=name, choices=names)
        return known[name]

    @cached_property
    def levels(self) -> Mapping[str, Levels]:
        """Each dimension, task, seed, fold and block as codes."""
        return {name: encode(self.frame[name]) for name in self._keys}

    @cached_property
    def designs(self) -> pd.DataFrame:
        """One row per task and design: its choices, ``gain`` and ``score`` as means over its
        repeats, ``std`` of the score (ddof 1), ``n``; means of params, seconds and the like."""
        frame = self.frame
        same = ("task", "design", *self.dimensions)  # ranks and precision are in no design's id
        key = combine([self.levels[name].codes for name in same], len(frame))
        groups = frame.groupby(key, sort=True)
        number = [
            name
            for name in frame.columns
            if name not in (*_OWN, *_PER_DESIGN, *self.dimensions) and is_number(frame[name])
        ]
        first = groups[["task", "design", *self.dimensions]].nth(0)
        first.index = pd.Index(key[frame.index.get_indexer(first.index)])
        means = groups[["gain", "score", *number]].mean()
        spread = pd.DataFrame({"std": groups["score"].std(ddof=1), "n": groups["score"].count()})
        return first.sort_index().join(means).join(spread)

    def correlation(self, task: str, folds: Iterable[int]) -> float:
        """Between a task's repeats in these folds: 1/k for several of a k-fold split, which share
        training data (Nadeau and Bengio 2003); 0 for seeds, and for splits of any other kind."""
        return 1 / self.folds[task] if task in self.folds and len(set(folds)) > 1 else 0.0

    def of(self, task: str) -> "Study":
        """The part of the study that lies in one task; ``left_out`` stays that of all.

        Raises:
            ConfigError: there is no such task, by id or by name.
        """
        ids = {self.task_name(known): known for known in self.scores} | {k: k for k in self.scores}
        if task not in ids:
            raise ConfigError("task", "no such task", value=task, choices=self.scores)
        return self.where(self.frame["task"].eq(ids[task]).to_numpy(dtype=bool))

    def where(self, rows: np.ndarray) -> "Study":
        """The study of the rows for which the boolean array ``rows`` is true."""
        kept = self.frame[rows].reset_index(drop=True)
        seen = set(kept["task"])
        scores = {task: score for task, score in self.scores.items() if task in seen}
        return replace(self, frame=kept, scores=scores)

    @property
    def _keys(self) -> tuple[str, ...]:
        return ("task", "design", "seed", "fold", *self.blocks, *self.dimensions)


def study(
    frame: pd.DataFrame,
    dimensions: Sequence[str],
    metric: str | Sequence[str],
    *,
    high: bool | Mapping[str, bool] | None = None,
    task: str | Sequence[str] = "task",
    aliases: Mapping[str, str] | None = None,
    tasks: Mapping[str, str] | None = None,
    keep: Sequence[str] = ("done",),
    probe: str | None = None,
    blocks: Sequence[str] = (),
    folds: Mapping[str, int] | None = None,
) -> Study:
    """Make a study of a frame with one row per trial (or per mean over repeats).

    ``metric`` is a column, or several: each task is judged by the first of them that it has any
    value of. ``high`` says whether more is better, for all or by column; else losses, errors, times
    and sizes are better low and all others high. ``task`` is one column or several that together
    make the task; a frame without it is one task. Columns `seed`, `fold`, `status` and `design` are
    made up where they are missing: one repeat, all done, a design for each set of choices.
    ``aliases`` and ``tasks`` are short names of dimensions and names of tasks; ``folds`` is the k
    of each task with a k-fold split. Rows with another status than ``keep`` or without a finite
    score are left out and counted.

    Raises:
        ConfigError: a column that is not there, no dimension or one with a name that the study
            uses itself, or no trial left to look at.
    """
    metrics = [metric] if isinstance(metric, str) else list(metric)
    extra = [*([probe] if probe else []), *blocks]
    require(frame, "metric", metrics, numeric=True)
    require(frame, "dimension", [*dimensions, *extra])
    for name in dimensions:
        if name in (*_OWN, *_PER_DESIGN):
            raise ConfigError("dimension", "is a column of the study itself", value=name)
    known = _with_identity(frame.reset_index(drop=True), dimensions, task)
    scores = _scores(known, metrics, high)
    score = _score(known, scores)
    there = np.isfinite(score)
    usable = known["status"].isin(list(keep)).to_numpy(dtype=bool)
    left = known.loc[~usable, "status"].value_counts().to_dict()
    left |= {"without score": int(n)} if (n := (usable & ~there).sum()) else {}
    if not (usable & there).any():
        raise ConfigError("metric", "no trial that counts has a value", value=", ".join(metrics))
    sign = known["task"].map({name: 1 if s.high else -1 for name, s in scores.items()})
    made = known.assign(score=score, gain=score * sign.to_numpy(dtype=float))
    first = [*_OWN, *dimensions]
    ordered = made[[*first, *(name for name in made.columns if name not in first)]]
    kept = ordered[usable & there].reset_index(drop=True)
    seen = set(kept["task"])
    scores = {name: one for name, one in scores.items() if name in seen}
    return Study(
        kept,
        tuple(dimensions),
        scores,
        dict(aliases or {}),
        dict(tasks or {}),
        left,
        probe,
        tuple(blocks),
        dict(folds or {}),
    )


def require(frame: pd.DataFrame, key: str, columns: Sequence[str], numeric: bool = False) -> None:
    """Raise a ConfigError that names the columns there are, unless all of ``columns`` are."""
    known = [name for name in frame.columns if not numeric or is_number(frame[name])]
    for name in columns:
        if name not in known:
            raise ConfigError(key, "no such column", value=name, choices=known)
    if not columns:
        raise ConfigError(key, "name one or more", choices=known)


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, which truth values are not."""
    types = pd.api.types
    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def _with_identity(
    frame: pd.DataFrame, dimensions: Sequence[str], task: str | Sequence[str]
) -> pd.DataFrame:
    parts = [task] if isinstance(task, str) else list(task)
    if parts != ["task"]:
        require(frame, "task", parts)
    made: dict[str, Any] = {}
    if parts != ["task"] or "task" not in frame:
        made["task"] = labels(frame, parts) if parts != ["task"] else "all"
    for name in ("seed", "fold"):  # a mean over repeats counts as one
        made[name] = frame[name].fillna(0) if name in frame else 0
    made |= {} if "status" in frame else {"status": "done"}
    if "design" not in frame:
        made["design"] = labels(frame, dimensions, named=True)
    return frame.assign(**made)


def labels(frame: pd.DataFrame, columns: Sequence[str], named: bool = False) -> pd.Series:
    """The cells of each row as words, empty ones left out; with the names of their columns."""
    label = np.full(len(frame), "", dtype=object)
    for name in columns:
        levels = encode(frame[name])
        words = [f"{name}={text(cell)}" if named else text(cell) for cell in levels.values]
        spaced = [
            "" if cell is None else f" {w}" for cell, w in zip(levels.values, words, strict=True)
        ]
        label = label + np.array(spaced, dtype=object)[levels.codes]
    return pd.Series(label, frame.index, dtype="string").str.lstrip()


def _scores(
    frame: pd.DataFrame, metrics: Sequence[str], high: bool | Mapping[str, bool] | None
) -> dict[str, Score]:
    given = frame.groupby("task")[list(metrics)].count() > 0
    found = {}
    for task, row in given.iterrows():
        name = next((metric for metric in metrics if row[metric]), metrics[-1])
        known = high if isinstance(high, Mapping) else {}
        fixed = high if isinstance(high, bool) else known.get(name)
        found[str(task)] = Score(name, more_is_better(name) if fixed is None else fixed)
    return found


def _score(frame: pd.DataFrame, scores: Mapping[str, Score]) -> np.ndarray:
    values = np.full(len(frame), np.nan)
    for column in dict.fromkeys(score.column for score in scores.values()):
        here = frame["task"].map({t: s.column == column for t, s in scores.items()})
        rows = here.to_numpy(dtype=bool)
        values[rows] = frame[column].to_numpy(dtype=float, na_value=np.nan)[rows]
    return values
