"""Seeds against designs: how much of the spread is luck, and which places are told apart at all."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from gymspace.analysis.significance import Correction, corrected, standard_error
from gymspace.analysis.study import Study

_TEST = "paired t against the first"


def variance_components(study: Study) -> pd.DataFrame:
    """Variance between designs and between the repeats of one, per task.

    One-way random effects, unbalanced (Shrout and Fleiss 1979, case 1). Columns: ``task``,
    ``designs``, ``trials``, ``between``, ``within``, ``icc`` (share of a single trial's variance
    that is the design's, at least 0) and ``icc_mean`` (that of a design's mean over its repeats).
    nan where there is one design, or no design has two repeats.
    """
    rows = []
    for task, part in study.frame.groupby("task"):
        groups = part.groupby("design")["gain"]
        sizes = groups.size().to_numpy(dtype=float)
        means = groups.mean().to_numpy(dtype=float)
        inside = float(((part["gain"] - groups.transform("mean")) ** 2).sum())
        found = _components(sizes, means, inside)
        rows.append((task, len(sizes), int(sizes.sum()), *found))
    names = ["task", "designs", "trials", "between", "within", "icc", "icc_mean"]
    return pd.DataFrame(rows, columns=names)


def distinguishable(
    study: Study, top: int = 10, alpha: float = 0.05, correction: Correction = "holm"
) -> pd.DataFrame:
    """Whether the ``top`` designs of each task can be told apart from its first.

    A paired t-test of each against the first over the repeats that both have, two-sided, corrected
    for their number; folds of a k-fold split are repeats that correlate (`Study.correlation`).
    Columns: ``task``, ``rank``, ``design``, ``gain`` (mean), ``behind`` (mean paired difference),
    ``repeats`` shared, ``p`` (corrected; nan below two shared repeats) and ``apart``: whether p is
    at most ``alpha``. The first was chosen on these same repeats, so that ``behind`` is flattering
    to it, and those not apart are if anything more.
    """
    groups = study.frame.groupby("task")
    parts = [_against_first(study, part, top, alpha, correction) for _, part in groups]
    return pd.concat(parts, ignore_index=True)


def warnings(study: Study, table: pd.DataFrame, alpha: float = 0.05) -> Iterator[str]:
    """A sentence for each task in which the first place is shared, from `distinguishable`."""
    for task, part in table.groupby("task"):
        rest = part[part["rank"] > 1]
        where = f"{study.task_name(str(task))}: " if len(study.scores) > 1 else ""
        untested = int(rest["p"].isna().sum())
        tied = int((~rest["apart"]).sum()) - untested
        if tied:
            test = f"{_TEST}, {alpha:g}{_shared(study, str(task))}"
            yield f"{where}{_places(tied, len(rest), 'is')} not told from the first ({test})"
        if untested:
            yield f"{where}{_places(untested, len(rest), 'shares')} no two repeats with the first"


def _places(n: int, of: int, verb: str) -> str:
    """``1 of the next 4 places is``; of a single one ``the next place is``."""
    verbs = {"is": "are", "shares": "share"}
    if of == 1:
        return f"the next place {verb}"
    return f"{n} of the next {of} places {verb if n == 1 else verbs[verb]}"


def _shared(study: Study, task: str) -> str:
    rows = study.frame["task"].eq(task).to_numpy(dtype=bool)
    shared = study.correlation(task, study.frame["fold"][rows])
    return f"; folds share training data: correlation {shared:.2g}" if shared else ""


def _components(
    sizes: np.ndarray, means: np.ndarray, inside: float
) -> tuple[float, float, float, float]:
    n, k = sizes.sum(), len(sizes)
    if k < 2 or n <= k:
        return (np.nan, np.nan, np.nan, np.nan)
    grand = (sizes * means).sum() / n
    across = (sizes * (means - grand) ** 2).sum() / (k - 1)
    within = inside / (n - k)
    typical = (n - (sizes**2).sum() / n) / (k - 1)
    between = max((across - within) / typical, 0.0)
    total = between + within
    if total == 0:
        return (0.0, 0.0, np.nan, np.nan)
    return between, within, between / total, between / (between + within / typical)


def _against_first(
    study: Study, part: pd.DataFrame, top: int, alpha: float, correction: Correction
) -> pd.DataFrame:
    table = part.pivot_table(index=["seed", "fold"], columns="design", values="gain")
    means = part.groupby("design")["gain"].mean().sort_values(ascending=False, kind="stable")[:top]
    first = table[means.index[0]]
    behind = table[means.index].rsub(first, axis=0)
    repeats = behind.count()
    task = str(part["task"].iloc[0])
    p = [_paired(study, task, behind[design].dropna()) for design in means.index[1:]]
    adjusted = np.concatenate([[np.nan], corrected(p, correction)])
    return pd.DataFrame(
        {
            "task": part["task"].iloc[0],
            "rank": range(1, len(means) + 1),
            "design": means.index,
            "gain": means.to_numpy(dtype=float),
            "behind": behind.mean().to_numpy(dtype=float),
            "repeats": repeats.to_numpy(),
            "p": adjusted,
            "apart": adjusted <= alpha,
        }
    )


def _paired(study: Study, task: str, behind: pd.Series) -> float:
    differences = behind.to_numpy(dtype=float)
    n = len(differences)
    if n < 2:
        return np.nan
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] else 1.0
    correlation = study.correlation(task, behind.index.get_level_values("fold"))
    scale = standard_error(float(differences.std(ddof=1)), n, correlation)
    return float(2 * stats.t.sf(abs(differences.mean()) / scale, n - 1))
