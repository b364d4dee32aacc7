"""Matched groups: trials that differ in one dimension and are equal in everything else."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gymspace.analysis.levels import combine, text
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.results.cells import Cell

Repeats = Literal["mean", "each"]
_MOST = 200  # choices; more is a continuous dimension, where nothing is ever equal


@dataclass(frozen=True)
class Matched:
    """Gains of a dimension's choices, side by side.

    ``gains`` has a row per group and a column per choice, nan where a group lacks it. A group has
    two choices or more; ``alone`` counts the others. ``task`` names each group's task. ``repeats``
    counts what each gain is the mean over, 0 where it is nan.
    """

    dimension: str
    choices: tuple[Cell, ...]
    gains: np.ndarray
    task: np.ndarray
    alone: int
    repeats: np.ndarray

    @property
    def complete(self) -> np.ndarray:
        """Whether each group has all choices."""
        return np.isfinite(self.gains).all(axis=1)

    def only(self, groups: np.ndarray) -> "Matched":
        """The groups for which the boolean array is true; the others are forgotten."""
        return replace(
            self,
            gains=self.gains[groups],
            task=self.task[groups],
            repeats=self.repeats[groups],
        )

    @property
    def uneven(self) -> int:
        """How many groups compare means over unequal numbers of repeats."""
        there = np.isfinite(self.gains)
        fewest = np.where(there, self.repeats, self.repeats.max(initial=0)).min(axis=1)
        return int((fewest < self.repeats.max(axis=1)).sum())


def matched(study: Study, dimension: str, repeats: Repeats = "mean") -> Matched:
    """Group a study's trials by everything but ``dimension``.

    A group shares task, blocks and every other dimension, except arguments of the dimension itself
    (``model.layer.heads`` below ``model.layer``), over which it takes the mean. With ``repeats`` it
    has the mean over its finished repeats, or is one repeat (``each``). In a study with a probe
    only the rows drawn for the dimension count. A choice that never meets another is no choice
    here: the empty cell of designs that have no such key, for one.

    Raises:
        ConfigError: no such dimension, or fewer than two choices ever meet.
    """
    key = study.dimension(dimension)
    rows = _probed(study, key)
    levels = study.levels[key]
    if len(levels.values) < 2:
        only = text(levels.values[0])
        raise ConfigError("dimension", f"has one choice, {only}: nothing to rank", value=dimension)
    group = _groups(study, key, repeats)[rows]
    cells = combine([group, levels.codes[rows]], len(group))
    _, first, at = np.unique(cells, return_index=True, return_inverse=True)
    gain = study.frame["gain"].to_numpy(dtype=float)[rows]
    means = np.bincount(at, gain) / np.bincount(at)
    entries = group[first], levels.codes[rows][first], means, _repeats(study, rows, at)
    return _table(study, key, *entries, rows[first])


def _repeats(study: Study, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many seeds and folds each cell has, whatever else it is the mean over."""
    repeat = combine((study.levels[name].codes[rows] for name in ("seed", "fold")), len(rows))
    return np.bincount(np.unique(np.stack([at, repeat]), axis=1)[0])


def _probed(study: Study, key: str) -> np.ndarray:
    if study.probe is None:
        return np.arange(len(study.frame))
    drawn = study.frame[study.probe].isin([key, study.alias(key)])
    return np.flatnonzero(drawn.to_numpy(dtype=bool))


def _groups(study: Study, key: str, repeats: Repeats) -> np.ndarray:
    others = [n for n in study.dimensions if n != key and not n.startswith(f"{key}.")]
    same = ("task", *study.blocks, *others, *(("seed", "fold") if repeats == "each" else ()))
    return combine((study.levels[name].codes for name in same), len(study.frame))


def _table(
    study: Study,
    key: str,
    group: np.ndarray,
    code: np.ndarray,
    gain: np.ndarray,
    repeats: np.ndarray,
    row: np.ndarray,
) -> Matched:
    """From one entry per group and choice to the matrix of those that meet another."""
    meets = (np.bincount(group) > 1)[group]
    alone = int((~meets).sum())
    chosen, column = np.unique(code[meets], return_inverse=True)
    if len(chosen) < 2:
        name = study.alias(key)
        raise ConfigError("dimension", "no two designs differ in it alone", value=name)
    if len(chosen) > _MOST:
        problem = f"has {len(chosen)} choices, more than {_MOST}: put them into classes first"
        raise ConfigError("dimension", problem, value=study.alias(key))
    _, first, at = np.unique(group[meets], return_index=True, return_inverse=True)
    gains = np.full((len(first), len(chosen)), np.nan)
    gains[at, column] = gain[meets]
    counts = np.zeros(gains.shape, np.int64)
    counts[at, column] = repeats[meets]
    task = study.frame["task"].to_numpy(dtype=object)[row[meets][first]]
    values = study.levels[key].values
    return Matched(key, tuple(values[i] for i in chosen), gains, task, alone, counts)
