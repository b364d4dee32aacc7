"""Which tasks rank designs alike, which designs show it, and what to try on a new task."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from gymspace.analysis.study import Study
from gymspace.errors import ConfigError

_LEAST = 3  # shared designs below which a correlation of ranks says nothing


@dataclass(frozen=True)
class Similarity:
    """Kendall's tau-b between tasks, in the order of a hierarchical clustering.

    ``tau`` and ``shared`` (number of designs that both tasks have) are tasks x tasks; ``linkage``
    is scipy's (average, on 1 - tau), its leaves numbered as the tasks of the table it came from.
    """

    tau: pd.DataFrame
    shared: pd.DataFrame
    linkage: np.ndarray


def task_table(study: Study) -> pd.DataFrame:
    """Mean gains, designs x tasks, nan where a design has no score on a task.

    Raises:
        ConfigError: there is one task only.
    """
    table = study.designs.pivot_table(index="design", columns="task", values="gain")
    if table.shape[1] < 2:
        raise ConfigError("task", "there is one task: nothing to compare", value=table.columns[0])
    return table.astype(float)


def similarity(table: pd.DataFrame) -> Similarity:
    """How alike the tasks (columns) rank the designs (rows) they share (You et al. 2020, 5.1).

    A pair with fewer than three shared designs has tau nan, and counts as unrelated in the order.

    Raises:
        ConfigError: no two tasks share three designs.
    """
    names = table.columns
    tau, shared = _kendall(table.to_numpy(dtype=float))
    if not np.isfinite(tau[np.triu_indices(len(names), 1)]).any():
        raise ConfigError("task", f"no two tasks share {_LEAST} designs that differ")
    distance = squareform(1 - np.where(np.isfinite(tau), tau, 0.0), checks=False)
    linkage = hierarchy.linkage(distance, "average", optimal_ordering=True)
    order = hierarchy.leaves_list(linkage)
    frames = [pd.DataFrame(m, names, names).iloc[order, order] for m in (tau, shared)]
    return Similarity(frames[0], frames[1], linkage)


def anchors(table: pd.DataFrame, count: int = 10) -> pd.DataFrame:
    """Few designs that tell tasks apart nearly as all do; greedily, from designs all tasks have.

    Each step adds the design that brings Kendall's tau between tasks, over the chosen designs
    alone, closest to that over all. Columns: ``design`` in the order chosen, ``error``: mean
    absolute difference of tau over pairs of tasks with the designs so far.

    Raises:
        ConfigError: fewer than two tasks, or fewer than three designs that all tasks have.
    """
    whole = table.dropna()
    if whole.shape[1] < 2 or len(whole) < _LEAST:
        raise ConfigError("anchors", f"{len(whole)} designs have a score on every task; 3 needed")
    gains = whole.to_numpy(dtype=float).T
    tasks, designs = gains.shape
    pairs = np.triu_indices(tasks, 1)
    full = np.nan_to_num(_kendall(gains.T)[0])[pairs]
    chosen = [int(np.argmax(np.ptp(stats.rankdata(gains, axis=1), axis=0)))]
    errors = [float(np.abs(full).mean())]  # of one design: it orders nothing
    total, gained = np.zeros((tasks, tasks, 1)), np.zeros((tasks, tasks, designs))
    while len(chosen) < min(count, designs):
        gained += _products(gains, chosen[-1])
        error = np.abs(_tau(total + gained)[pairs] - full[:, None]).mean(axis=0)
        error[chosen] = np.inf
        best = int(np.argmin(error))
        total = total + gained[:, :, [best]]
        chosen.append(best)
        errors.append(float(error[best]))
    return pd.DataFrame({"design": whole.index[chosen], "error": errors})


def recommend(table: pd.DataFrame, scores: pd.Series, top: int = 1) -> pd.DataFrame:
    """What to try on a new task whose gains on a few designs (the index) are ``scores``.

    One row per known task, most similar first: ``task``, ``tau``, ``shared`` designs, and its best
    ``design`` with its ``gain`` there; with ``top`` above 1 its best ones, a row each.

    Raises:
        ConfigError: no known task shares three designs with the new one.
    """
    rows = []
    for task in table.columns:
        known = table[task].dropna()
        both = known.index.intersection(scores.dropna().index)
        tau = stats.kendalltau(known[both], scores[both]).statistic if len(both) >= _LEAST else None
        best = known.sort_values(ascending=False, kind="stable")[:top]
        rows += [(task, tau, len(both), design, gain) for design, gain in best.items()]
    found = pd.DataFrame(rows, columns=["task", "tau", "shared", "design", "gain"])
    found = found.dropna(subset="tau").astype({"tau": float})
    if found.empty:
        raise ConfigError("task", f"no known task shares {_LEAST} designs with the new one")
    return found.sort_values("tau", ascending=False, kind="stable", ignore_index=True)


def transfer(table: pd.DataFrame, designs: pd.Index | None = None) -> pd.DataFrame:
    """Each task in turn taken for a new one: how good is what the others recommend?

    ``designs`` are what the new task is measured on (anchors; by default all). One row per task:
    ``task``, the most similar ``source`` and its ``tau``, the recommended ``design``, its ``gain``
    here, the ``best`` gain here, ``regret`` (best minus gain) and ``rank`` among all designs here.
    Recommended is the best design of the source that this task has a score for.
    """
    rows = []
    for task in table.columns:
        here = table[task].dropna()
        known = table.drop(columns=task).loc[here.index]
        seen = here if designs is None else here[here.index.intersection(designs)]
        try:
            found = recommend(known, seen).iloc[0]
        except ConfigError:
            continue
        gain = here[found["design"]]
        rank = int((here > gain).sum()) + 1
        row = (task, found["task"], found["tau"], found["design"], gain, here.max())
        rows.append((*row, here.max() - gain, rank))
    names = ["task", "source", "tau", "design", "gain", "best", "regret", "rank"]
    return pd.DataFrame(rows, columns=names)


def _kendall(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tau-b between columns over the rows that both have, and the number of these."""
    there = np.isfinite(values)
    tau = np.eye(values.shape[1])
    shared = there.T.astype(int) @ there.astype(int)
    for a, b in combinations(range(values.shape[1]), 2):
        both = there[:, a] & there[:, b]
        enough = shared[a, b] >= _LEAST
        found = stats.kendalltau(values[both, a], values[both, b]).statistic if enough else np.nan
        tau[a, b] = tau[b, a] = found
    return tau, shared


def _products(gains: np.ndarray, at: int) -> np.ndarray:
    """Of design ``at`` with each: tasks x tasks x designs, 1 where both order the two alike."""
    sign = np.sign(gains - gains[:, [at]])
    return sign[:, None, :] * sign[None, :, :]


def _tau(products: np.ndarray) -> np.ndarray:
    """Tau-b from summed products; 0 where a task ties all the designs."""
    own = np.sqrt(np.diagonal(products, axis1=0, axis2=1).T.astype(float))
    most = own[:, None] * own[None, :]
    return np.divide(products, most, out=np.zeros(products.shape), where=most > 0)
