"""Whether the choices of a dimension differ: Friedman's test, post-hoc tests, effect sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from gymspace.analysis.matched import Matched

Correction = Literal["holm", "bonferroni"]


@dataclass(frozen=True)
class Significance:
    """A test over matched groups: its name, statistic, p, and ``w``, Kendall's agreement (0..1)."""

    name: str
    statistic: float
    p: float
    w: float
    groups: int


def friedman(gains: np.ndarray) -> Significance:
    """Test whether any of the choices (columns) does better than another over the groups (rows).

    Friedman's test for three choices and more; for two, where it is a sign test, Wilcoxon's signed
    ranks. W is Friedman's statistic over its largest value: 1 where all groups rank alike. p is nan
    for fewer than two groups, 1 where all values are equal.
    """
    n, k = gains.shape
    if n < 2:
        return Significance("none", np.nan, np.nan, np.nan, n)
    w = agreement(gains)
    if k > 2:
        if np.isnan(w):
            return Significance("Friedman", 0.0, 1.0, np.nan, n)
        found = stats.friedmanchisquare(*gains.T)
        return Significance("Friedman", float(found.statistic), float(found.pvalue), w, n)
    difference = gains[:, 0] - gains[:, 1]
    if not difference.any():
        return Significance("Wilcoxon", 0.0, 1.0, w, n)
    found = stats.wilcoxon(difference, zero_method="zsplit")
    return Significance("Wilcoxon", float(found.statistic), float(found.pvalue), w, n)


def agreement(gains: np.ndarray) -> float:
    """Kendall's W of the groups' rankings, corrected for ties; nan where every group is one tie."""
    n, k = gains.shape
    ranks = stats.rankdata(gains, axis=1)
    spread = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    most = n * ((ranks - (k + 1) / 2) ** 2).sum()
    return float(spread / most) if most else float("nan")


def posthoc(
    groups: Matched,
    method: Literal["nemenyi", "conover"] = "nemenyi",
    correction: Correction = "holm",
) -> pd.DataFrame:
    """p of each pair of choices (rows and columns), on complete groups, after a Friedman test.

    Nemenyi's test allows for all pairs itself (Demsar 2006); Conover's is corrected as asked.
    """
    import scikit_posthocs as posthocs  # here: it brings a plotting library along

    names = pd.Index(groups.choices, dtype=object, name="choice", tupleize_cols=False)
    gains = groups.gains[groups.complete]
    if method == "nemenyi":
        found = posthocs.posthoc_nemenyi_friedman(gains)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = posthocs.posthoc_conover_friedman(gains, p_adjust=correction)
    return pd.DataFrame(found.to_numpy(), index=names, columns=names)


def corrected(p: Sequence[float], correction: Correction = "holm") -> np.ndarray:
    """p values corrected for their number; nan ones are not counted and stay nan."""
    from statsmodels.stats.multitest import multipletests  # here: slow to import

    values = np.asarray(p, dtype=float)
    there = np.isfinite(values)
    if there.any():
        values[there] = multipletests(values[there], method=correction)[1]
    return values


def standard_error(spread: float, n: int, correlation: float = 0.0) -> float:
    """Of a mean over ``n`` differences whose standard deviation is ``spread``.

    ``correlation`` is that between repeats: 1/k for k-fold cross-validation, whose folds share
    training data (Nadeau and Bengio 2003).
    """
    return spread * float(np.sqrt(1 / n + correlation / (1 - correlation)))


def effects(
    groups: Matched, *, draws: int = 1000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Mean paired difference of each pair of choices, in units of the score; positive is better.

    Columns: ``choice``, ``other``, ``difference`` (gain of choice minus other's, mean over complete
    groups), ``low`` and ``high`` (percentile bootstrap over groups), ``standardised`` (over the
    standard deviation of the differences), ``better`` (share of groups), ``groups``.
    """
    gains = groups.gains[groups.complete]
    drawn = bootstrap_means(gains, draws, seed)
    tail = (1 - level) / 2
    rows = []
    for a, b in combinations(range(len(groups.choices)), 2):
        difference = gains[:, a] - gains[:, b]
        low, high = np.quantile(drawn[:, a] - drawn[:, b], [tail, 1 - tail])
        spread = difference.std(ddof=1) if len(difference) > 1 else np.nan
        size = difference.mean() / spread if spread else np.nan
        share = (difference > 0).mean()
        pair = (groups.choices[a], groups.choices[b])
        rows.append((*pair, difference.mean(), low, high, size, share, len(difference)))
    names = ("choice", "other", "difference", "low", "high", "standardised", "better", "groups")
    return pd.DataFrame(rows, columns=list(names)).astype({"choice": object, "other": object})


def bootstrap_means(values: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Column means of ``values`` (n, k) over ``draws`` resamples of its rows: (draws, k)."""
    rng = np.random.default_rng(seed)
    n, k = values.shape
    at_once = max(1, 2_000_000 // max(n * k, 1))
    means = np.empty((draws, k))
    for start in range(0, draws, at_once):
        rows = rng.integers(n, size=(min(at_once, draws - start), n), dtype=np.int32)
        for column in range(k):
            means[start : start + len(rows), column] = values[:, column][rows].mean(axis=1)
    return means
