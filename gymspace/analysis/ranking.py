"""The choices of each dimension ranked within matched groups (You et al. 2020, section 6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from gymspace.analysis.levels import text
from gymspace.analysis.matched import Matched, Repeats, matched
from gymspace.analysis.significance import Significance, corrected, friedman
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError

Ties = Literal["min", "average"]
_ROUNDING = 1e-12  # relative: means of the same numbers in another order are equal


@dataclass(frozen=True)
class Ranking:
    """How the choices of a dimension rank; 1 is best.

    ``choices``: per choice its ``average_rank``, ``first`` (share of groups where it has rank 1,
    alone or tied), ``sole`` (share where nothing ties with it), ``gain`` (mean), ``groups`` ranked,
    ``lacking`` (partial groups without it).
    ``ranks``: one row per group, one column per choice. ``distribution``: per choice (row) the
    share of groups in which it has each rank (column). ``by_task``: average ranks and ``groups``
    per task. ``used`` groups were ranked, ``partial`` ones were dropped (or are among those used,
    if incomplete ones were asked for), ``alone`` trials had no partner. ``test`` is on the gains
    of complete groups, without tolerance.
    """

    dimension: str
    choices: pd.DataFrame
    ranks: pd.DataFrame
    distribution: pd.DataFrame
    by_task: pd.DataFrame
    used: int
    partial: int
    alone: int
    test: Significance
    matched: Matched


def rank(
    study: Study,
    dimension: str,
    *,
    repeats: Repeats = "mean",
    complete: bool = True,
    tolerance: float = 0.0,
    ties: Ties = "min",
) -> Ranking:
    """Rank the choices of one dimension in every matched group, and average over groups.

    A choice's rank is 1 plus the number of choices that are better by more than ``tolerance``
    (``ties="min"``), or that plus half the number of others within it (``"average"``: ranks of a
    group then always have the same sum). Within means by score, so no chain of near ties forms.
    ``complete`` takes only groups that have every choice.

    Raises:
        ConfigError: no such dimension, fewer than two choices that meet, no complete group.
    """
    if not 0 <= tolerance < np.inf:
        raise ConfigError("tolerance", "must be 0 or more", value=tolerance)
    groups = matched(study, dimension, repeats)
    whole = groups.complete
    if complete and not whole.any():
        problem = f"none of its {len(whole)} groups has all choices; rank incomplete ones too"
        raise ConfigError("dimension", problem, value=dimension)
    taken = groups.only(whole) if complete else groups
    ranks = within(taken.gains, tolerance, ties)
    lacking = np.isnan(groups.gains).sum(axis=0)
    columns = pd.Index(taken.choices, dtype=object, name="choice", tupleize_cols=False)
    table = pd.DataFrame(ranks, columns=columns)
    return Ranking(
        dimension=groups.dimension,
        choices=_choices(taken, ranks, tolerance).assign(lacking=lacking),
        ranks=table.assign(task=taken.task).set_index("task", append=True),
        distribution=_distribution(ranks, columns),
        by_task=_by_task(table, taken.task),
        used=len(ranks),
        partial=int((~whole).sum()),
        alone=groups.alone,
        test=friedman(groups.gains[whole]),
        matched=taken,
    )


def rank_all(study: Study, **options) -> dict[str, Ranking]:
    """Rank every dimension that can be; ``options`` as for `rank`.

    Raises:
        ConfigError: none can be.
    """
    found: dict[str, Ranking] = {}
    for dimension in study.dimensions:
        try:
            found[dimension] = rank(study, dimension, **options)
        except ConfigError as error:
            if error.key != "dimension":
                raise
    if not found:
        names = [study.alias(name) for name in study.dimensions]
        problem = "no two designs differ in one dimension alone: nothing to rank"
        raise ConfigError("dimension", problem, value=", ".join(names))
    return found


def summary(
    rankings: Mapping[str, Ranking], correction: Literal["holm", "bonferroni"] = "holm"
) -> pd.DataFrame:
    """One row per dimension and choice: its ranks, the groups, the test over all its choices.

    ``p_corrected`` allows for the number of dimensions tested.
    """
    p = corrected([one.test.p for one in rankings.values()], correction)
    frames = [
        one.choices.assign(
            dimension=name,
            used=one.used,
            partial=one.partial,
            w=one.test.w,
            p=one.test.p,
            p_corrected=adjusted,
        )
        for (name, one), adjusted in zip(rankings.items(), p, strict=True)
    ]
    table = pd.concat(frames, ignore_index=True)
    return table[["dimension", *(name for name in table.columns if name != "dimension")]]


def within(gains: np.ndarray, tolerance: float = 0.0, ties: Ties = "min") -> np.ndarray:
    """Ranks in each row of ``gains`` (groups x choices), as `rank` states; nan stays nan."""
    there = np.isfinite(gains)
    slack = tolerance + _ROUNDING * np.nanmax(np.abs(gains), axis=1, keepdims=True)
    better = np.zeros(gains.shape)
    worse = np.zeros(gains.shape)
    for other in range(gains.shape[1]):  # choices are few, groups are many
        better += gains[:, [other]] - gains > slack
        worse += gains - gains[:, [other]] > slack
    tied = there.sum(axis=1, keepdims=True) - better - worse - 1
    ranks = 1 + better + (tied / 2 if ties == "average" else 0)
    return np.where(there, ranks, np.nan)


def _choices(taken: Matched, ranks: np.ndarray, tolerance: float) -> pd.DataFrame:
    lowest = within(taken.gains, tolerance, "min") == 1
    sole = lowest & (lowest.sum(axis=1, keepdims=True) == 1)
    count = np.isfinite(ranks).sum(axis=0)
    return pd.DataFrame(
        {
            "choice": pd.Series(taken.choices, dtype=object),
            "average_rank": np.nanmean(ranks, axis=0),
            "first": lowest.sum(axis=0) / count,
            "sole": sole.sum(axis=0) / count,
            "gain": np.nanmean(taken.gains, axis=0),
            "groups": count,
        }
    )


def _distribution(ranks: np.ndarray, columns: pd.Index) -> pd.DataFrame:
    values = np.unique(ranks[np.isfinite(ranks)])
    shares = [(ranks == value).sum(axis=0) / np.isfinite(ranks).sum(axis=0) for value in values]
    return pd.DataFrame(np.transpose(shares), index=columns, columns=pd.Index(values, name="rank"))


def _by_task(ranks: pd.DataFrame, task: np.ndarray) -> pd.DataFrame:
    groups = ranks.groupby(pd.Index(task, name="task"))
    return groups.mean().assign(groups=groups.size())


def sentences(study: Study, rankings: Iterable[Ranking]) -> list[str]:
    """What of the trials the rankings do not rest on, in words."""
    found = [
        f"{n} {'trial' if n == 1 else 'trials'} {status} {_are(n)} left out"
        for status, n in study.left_out.items()
    ]
    rankings = list(rankings)
    uneven = [f"{study.alias(one.dimension)} {n}" for one in rankings if (n := one.matched.uneven)]
    if uneven:
        found.append(f"groups of means over unequal numbers of repeats: {', '.join(uneven)}")
    for one in (ranking for ranking in rankings if ranking.partial):
        pairs = zip(one.choices["choice"], one.choices["lacking"], strict=True)
        lacking = ", ".join(
            f"{n} {'has' if n == 1 else 'have'} no {text(choice)}" for choice, n in pairs if n
        )
        n = one.partial
        groups = f"{n} {'group' if n == 1 else 'groups'} {_are(n)} partial"
        found.append(f"{study.alias(one.dimension)}: {groups}; {lacking}")
    return found


def single(study: Study) -> list[str]:
    """The dimensions of which nothing but one choice counts, in words."""
    if not study.left_out:
        return []
    left = {name: study.levels[name].values for name in study.dimensions}
    return [
        f"{study.alias(name)}: one choice is left, {text(values[0])}: not ranked"
        for name, values in left.items()
        if len(values) == 1
    ]


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
