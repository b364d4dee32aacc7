"""Which dimensions matter, alone and in pairs: fANOVA, PED-ANOVA, permutation on a forest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.importance import (
    BaseImportanceEvaluator,
    FanovaImportanceEvaluator,
    PedAnovaImportanceEvaluator,
)
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from gymspace.analysis.levels import Levels, encode
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError

Method = Literal["fanova", "ped_anova", "permutation"]
_TREES = 64
_FOLDS, _SHUFFLES = 3, 3
_FEWEST = 8  # designs; of fewer a forest learns nothing


@dataclass(frozen=True)
class Importance:
    """How much each dimension matters, most important first.

    ``table`` has ``dimension`` and ``importance``: of fANOVA the share of a forest's variance that
    is explained by the dimension alone (the rest is interactions and noise), of PED-ANOVA its share
    in reaching the best tenth (sums to 1), of permutation the loss in R2 on designs not learnt
    from. ``pairs`` (permutation only): ``first``, ``second``, ``importance`` of shuffling both
    together and ``interaction``, what that is beyond the sum of the two. ``r2`` is the forest's
    out-of-bag R2 (nan for PED-ANOVA): where it is low, no importance means much. ``used`` of
    ``designs`` rows were looked at.
    """

    method: Method
    table: pd.DataFrame
    pairs: pd.DataFrame
    r2: float
    used: int
    designs: int


def importance(
    study: Study, method: Method = "fanova", *, most: int | None = None, seed: int = 0
) -> Importance:
    """Importance of every dimension for the mean gain of a design, standardised within its task.

    Choices that are all numbers count as ordered, by their rank; an empty cell is the lowest of
    them, or a choice like any other. ``most`` designs, drawn by ``seed``, are enough: by default
    1,000 (PED-ANOVA: 5,000).

    Papers: Hutter et al. 2014 (fANOVA), Watanabe et al. 2023 (PED-ANOVA), Breiman 2001.

    Raises:
        ConfigError: an unknown method, fewer than eight designs, or all have the same score.
    """
    methods = ("fanova", "ped_anova", "permutation")
    if method not in methods:
        raise ConfigError("method", "unknown choice", value=method, choices=methods)
    limit = most or (5_000 if method == "ped_anova" else 1_000)
    data = _data(study, limit, seed)
    r2, pairs = float("nan"), _pairs_table([])
    if method == "permutation":
        r2 = _out_of_bag(data, seed)
        found, pairs = _permutation(data, seed)
    elif method == "fanova":
        r2 = _out_of_bag(data, seed)
        found = _by_optuna(data, FanovaImportanceEvaluator(n_trees=_TREES, seed=seed))
    else:
        raw = _by_optuna(data, PedAnovaImportanceEvaluator())
        found = {name: value / (sum(raw.values()) or 1.0) for name, value in raw.items()}
    rows = [(name, found.get(name, 0.0)) for name in study.dimensions]
    table = pd.DataFrame(rows, columns=["dimension", "importance"])
    table = table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    return Importance(method, table, pairs, r2, len(data.target), len(study.designs))


@dataclass(frozen=True)
class _Data:
    """Levels of those dimensions that vary, and the standardised gain, of each design used."""

    levels: Mapping[str, Levels]
    target: np.ndarray

    def columns(self) -> tuple[np.ndarray, dict[str, list[int]]]:
        """Features for a forest, and which of their columns belong to each dimension."""
        parts: list[np.ndarray] = []
        own: dict[str, list[int]] = {}
        for name, levels in self.levels.items():
            codes, count = levels.codes, len(levels.values)
            part = codes[:, None] if _ordered(levels) else np.eye(count)[codes]
            start = sum(p.shape[1] for p in parts)
            own[name] = list(range(start, start + part.shape[1]))
            parts.append(part)
        return np.hstack(parts).astype(np.float32), own


def _data(study: Study, most: int, seed: int) -> _Data:
    designs = study.designs
    if len(designs) < _FEWEST:
        problem = f"importance needs {_FEWEST} designs or more"
        raise ConfigError("importance", problem, value=len(designs))
    if len(designs) > most:
        rows = np.random.default_rng(seed).choice(len(designs), most, replace=False)
        designs = designs.iloc[np.sort(rows)]
    groups = designs.groupby("task")["gain"]
    centred = designs["gain"] - groups.transform("mean")
    spread = groups.transform("std", ddof=0)
    target = (centred / spread.where(spread > 0)).fillna(0.0).to_numpy(dtype=float)
    if not target.any():
        raise ConfigError("importance", "all designs of a task have the same score")
    levels = {name: encode(designs[name]) for name in study.dimensions}
    varying = {name: one for name, one in levels.items() if len(one.values) > 1}
    if not varying:
        raise ConfigError("importance", "no dimension has two choices")
    return _Data(varying, target)


def _ordered(levels: Levels) -> bool:
    kinds = [cell for cell in levels.values if cell is not None]
    return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in kinds)


def _by_optuna(data: _Data, evaluator: BaseImportanceEvaluator) -> dict[str, float]:
    space: dict[str, BaseDistribution] = {}
    for name, levels in data.levels.items():
        top = len(levels.values) - 1
        ordered = _ordered(levels)
        choices = list(range(top + 1))
        space[name] = IntDistribution(0, top) if ordered else CategoricalDistribution(choices)
    codes = np.column_stack([levels.codes for levels in data.levels.values()]).tolist()
    trials = [
        optuna.trial.create_trial(
            params=dict(zip(space, row, strict=True)), distributions=space, value=value
        )
        for row, value in zip(codes, data.target.tolist(), strict=True)
    ]
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        made = optuna.create_study(direction="maximize")
        made.add_trials(trials)
        found = evaluator.evaluate(made)
    finally:
        optuna.logging.set_verbosity(before)
    return {name: float(value) for name, value in found.items()}


def _forest(seed: int, out_of_bag: bool = False) -> RandomForestRegressor:
    return RandomForestRegressor(_TREES, oob_score=out_of_bag, random_state=seed, bootstrap=True)


def _out_of_bag(data: _Data, seed: int) -> float:
    features, _ = data.columns()
    return float(_forest(seed, out_of_bag=True).fit(features, data.target).oob_score_)


def _permutation(data: _Data, seed: int) -> tuple[dict[str, float], pd.DataFrame]:
    features, own = data.columns()
    asked = [(name,) for name in own] + list(combinations(own, 2))
    losses = np.zeros(len(asked))
    rng = np.random.default_rng(seed)
    for learn, judge in KFold(_FOLDS, shuffle=True, random_state=seed).split(features):
        forest = _forest(seed).fit(features[learn], data.target[learn])
        columns = [[i for name in names for i in own[name]] for names in asked]
        for _ in range(_SHUFFLES):
            losses += _losses(forest, features[judge], data.target[judge], columns, rng)
    by = dict(zip(asked, losses / (_FOLDS * _SHUFFLES), strict=True))
    alone = {names[0]: value for names, value in by.items() if len(names) == 1}
    pairs = [
        (*names, value, value - alone[names[0]] - alone[names[1]])
        for names, value in by.items()
        if len(names) == 2
    ]
    return {name: float(value) for name, value in alone.items()}, _pairs_table(pairs)


def _losses(
    forest: RandomForestRegressor,
    features: np.ndarray,
    target: np.ndarray,
    asked: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> np.ndarray:
    """R2 lost when the given columns are shuffled together, in one prediction for all."""
    shuffled = []
    for columns in asked:
        copy = features.copy()
        copy[:, columns] = features[rng.permutation(len(features))][:, columns]
        shuffled.append(copy)
    predicted = forest.predict(np.vstack([features, *shuffled])).reshape(-1, len(features))
    scores = np.array([r2_score(target, one) for one in predicted])
    return scores[0] - scores[1:]


def _pairs_table(rows: Sequence[tuple[str, str, float, float]]) -> pd.DataFrame:
    names = ["first", "second", "importance", "interaction"]
    table = pd.DataFrame(rows, columns=names).astype({"importance": float, "interaction": float})
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
