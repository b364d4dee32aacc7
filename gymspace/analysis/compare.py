"""Two designs, or two sweeps, over what they share: is one better, and how sure is that?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from gymspace.analysis.significance import bootstrap_means, standard_error
from gymspace.analysis.study import Study, labels
from gymspace.errors import ConfigError

_REPEAT = ["task", "seed", "fold"]
_MANY = 1_000_000


@dataclass(frozen=True)
class Comparison:
    """Paired differences ``a - b`` of gains (positive: a is better), and what they say.

    ``pairs``: one row per pair with ``a``, ``b`` (gains), ``difference``. ``low``, ``high``:
    interval of Student's t; ``boot_low``, ``boot_high``: percentile bootstrap over pairs.
    ``probability`` that a is better by more than ``rope``, ``equal`` that they differ by no more,
    from the posterior of the Bayesian correlated t-test (Benavoli et al. 2017). ``p`` is that of
    the paired t-test, two-sided. ``more`` pairs, beyond those there are, would show a difference
    of this size with the power asked for; None if it is nought. ``correlation`` between the pairs
    is what all of it allows for, the bootstrap excepted.
    """

    pairs: pd.DataFrame
    difference: float
    low: float
    high: float
    boot_low: float
    boot_high: float
    probability: float
    equal: float
    p: float
    more: int | None
    correlation: float = 0.0


def compare_designs(study: Study, a: str, b: str, **options) -> Comparison:
    """Compare two designs over the repeats that both have; ``options`` as for `compare_pairs`.

    Repeats that are folds of a k-fold split have the study's correlation.

    Raises:
        ConfigError: no such design, or fewer than two repeats in common.
    """
    frames = []
    for design in (a, b):
        rows = study.frame[study.frame["design"].eq(design).to_numpy(dtype=bool)]
        if rows.empty:
            raise ConfigError("design", "no such design", value=design)
        frames.append(rows.groupby(_REPEAT)["gain"].mean())
    return _compare_repeats(study, _joined(*frames), options)


def compare_studies(a: Study, b: Study, **options) -> Comparison:
    """Compare two sweeps over what both have; ``options`` as for `compare_pairs`.

    A pair is one design on one task, its mean over the repeats that both have; with one shared
    design it is a repeat. Designs are matched by id, or where none is shared by their choices in
    the dimensions that both have; tasks likewise, unless each sweep has one, and another.

    Raises:
        ConfigError: measured differently, or fewer than two pairs in common.
    """
    if a.metric != b.metric:
        raise ConfigError("metric", f"the other sweep has {b.metric}", value=a.metric)
    frames = [study.frame[[*_REPEAT, "design", "gain"]] for study in (a, b)]
    if not set(frames[0]["design"]) & set(frames[1]["design"]):
        shared = [name for name in a.dimensions if name in b.dimensions]
        frames = [
            frame.assign(design=labels(study.frame, shared, named=True))
            for frame, study in zip(frames, (a, b), strict=True)
        ]
    tasks = [set(frame["task"]) for frame in frames]
    if not tasks[0] & tasks[1] and len(tasks[0]) == len(tasks[1]) == 1:
        frames = [frame.assign(task=next(iter(tasks[0]))) for frame in frames]
    whole = _joined(*(frame.groupby([*_REPEAT, "design"])["gain"].mean() for frame in frames))
    if len(set(whole.index.get_level_values("design"))) > 1:
        return compare_pairs(whole.groupby(["task", "design"]).mean(), **options)
    return _compare_repeats(a, whole, options)


def compare_pairs(
    pairs: pd.DataFrame,
    *,
    rope: float = 0.0,
    correlation: float = 0.0,
    level: float = 0.95,
    power: float = 0.8,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare columns ``a`` and ``b`` of gains, paired by row.

    ``rope`` is a difference that does not matter. ``correlation`` is that between repeats that
    share training data: 0 for seeds on a fixed split, 1/k for k-fold cross-validation (Nadeau and
    Bengio 2003); t-interval, p, probability and ``more`` allow for it, the bootstrap does not.

    Raises:
        ConfigError: fewer than two pairs.
    """
    if len(pairs) < 2:
        raise ConfigError(
            "compare", "two repeats or designs in common are needed", value=len(pairs)
        )
    differences = (pairs["a"] - pairs["b"]).to_numpy(dtype=float)
    n, mean, spread = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    scale = standard_error(spread, n, correlation)
    drawn = bootstrap_means(differences[:, None], draws, seed)[:, 0]
    tail = (1 - level) / 2
    boot = np.quantile(drawn, [tail, 1 - tail])
    better, near, low, high, p = _judged(mean, scale, n, rope, tail)
    return Comparison(
        pairs=pairs.assign(difference=differences),
        difference=mean,
        low=low,
        high=high,
        boot_low=float(boot[0]),
        boot_high=float(boot[1]),
        probability=better,
        equal=near,
        p=p,
        more=more_pairs(mean, spread, n, 1 - level, power, correlation),
        correlation=correlation,
    )


def _judged(
    mean: float, scale: float, n: int, rope: float, tail: float
) -> tuple[float, float, float, float, float]:
    """Probabilities that a is better and that both are equal, t-interval and p, by Student's t."""
    if scale == 0:
        certain = 1.0 if mean == 0 else 0.0
        return float(mean > rope), float(abs(mean) <= rope), mean, mean, certain
    posterior = stats.t(n - 1, mean, scale)
    low, high = (float(x) for x in posterior.ppf([tail, 1 - tail]))
    near = float(posterior.cdf(rope) - posterior.cdf(-rope))
    p = float(2 * stats.t.sf(abs(mean) / scale, n - 1))
    return float(posterior.sf(rope)), near, low, high, p


def more_pairs(
    mean: float, spread: float, n: int, alpha: float, power: float, correlation: float = 0.0
) -> int | None:
    """How many pairs beyond ``n`` a paired t-test needs to find a difference of this size.

    The observed size is itself uncertain: read it as an order of magnitude. None if no number up to
    a million is enough.
    """

    def reached(size: int) -> bool:
        shift = abs(mean) / standard_error(spread, size, correlation)
        limit = stats.t.isf(alpha / 2, size - 1)
        return float(stats.nct.sf(limit, size - 1, shift)) >= power

    if mean == 0:
        return None
    if spread == 0 or reached(n):
        return 0
    enough = 2 * n
    while not reached(enough):
        enough *= 2
        if enough > _MANY:
            return None
    low, high = enough // 2, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high - n


def _compare_repeats(study: Study, pairs: pd.DataFrame, options: Mapping[str, Any]) -> Comparison:
    tasks, folds = (pairs.index.get_level_values(name) for name in ("task", "fold"))
    most = max((study.correlation(task, folds) for task in set(tasks)), default=0.0)
    return compare_pairs(pairs, **{"correlation": most, **options})


def _joined(a: pd.Series, b: pd.Series) -> pd.DataFrame:
    return pd.concat([a.rename("a"), b.rename("b")], axis=1, join="inner")
