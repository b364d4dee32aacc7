"""Pareto fronts: designs that no other beats in all that one asks of them."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from gymspace.analysis.study import Study, require
from gymspace.errors import ConfigError

Direction = Literal["max", "min"]


def pareto(frame: pd.DataFrame, objectives: Mapping[str, Direction]) -> np.ndarray:
    """Whether each row is on the front of ``objectives``: column -> what of it is better.

    On the front is a row if no other is at least as good in all and better in one; equal rows are
    on it together. A row without one of the values is not.

    Raises:
        ConfigError: no such column, or one that is no number.
    """
    require(frame, "objective", list(objectives), numeric=True)
    for direction in objectives.values():
        if direction not in ("max", "min"):
            raise ConfigError(
                "objective", "unknown choice", value=direction, choices=("max", "min")
            )
    signs = [1 if direction == "max" else -1 for direction in objectives.values()]
    values = frame[list(objectives)].to_numpy(dtype=float, na_value=np.nan) * signs
    there = np.flatnonzero(np.isfinite(values).all(axis=1))
    on = np.zeros(len(frame), dtype=bool)
    distinct, back = np.unique(values[there], axis=0, return_inverse=True)
    on[there] = _undominated(distinct)[back.ravel()]
    return on


def front(
    study: Study, against: Mapping[str, Direction] | None = None, task: str | None = None
) -> pd.DataFrame:
    """The designs on the front of gain and of ``against`` (by default few params), per task.

    Rows of `Study.designs`, best gain first, task by task.

    Raises:
        ConfigError: no such column or task.
    """
    designs = (study if task is None else study.of(task)).designs
    asked: dict[str, Direction] = {"gain": "max", **(against or {"params": "min"})}
    require(designs, "objective", list(asked), numeric=True)
    parts = [part[pareto(part, asked)] for _, part in designs.groupby("task")]
    return pd.concat(parts).sort_values(["task", "gain"], ascending=[True, False], kind="stable")


def _undominated(values: np.ndarray) -> np.ndarray:
    """Which of the distinct rows, all columns best high, are beaten by none."""
    rows, columns = values.shape
    if columns == 2:
        return _undominated_of_two(values)
    left = np.argsort(-values.sum(axis=1), kind="stable")  # what has the best sum is on the front
    on = np.zeros(rows, dtype=bool)
    while len(left):
        first, rest = left[0], left[1:]
        on[first] = True
        left = rest[(values[rest] > values[first]).any(axis=1)]
    return on


def _undominated_of_two(values: np.ndarray) -> np.ndarray:
    order = np.lexsort((-values[:, 1], -values[:, 0]))
    second = values[order, 1]
    before = np.concatenate([[-np.inf], np.maximum.accumulate(second)[:-1]])
    on = np.zeros(len(values), dtype=bool)
    on[order] = second > before
    return on
