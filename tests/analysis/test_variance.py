"""Seeds against designs."""

import numpy as np
import pandas as pd
import pytest

from gymspace.analysis.study import study
from gymspace.analysis.variance import distinguishable, variance_components, warnings


def trials(design, seed, designs=200, repeats=5, drop=0.0):
    """Trials with planted standard deviations between designs and between seeds."""
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(designs), repeats)
    acc = rng.normal(0, design, designs)[x] + rng.normal(0, seed, len(x))
    frame = pd.DataFrame({"x": x, "seed": np.tile(np.arange(repeats), designs), "acc": acc})
    return study(frame[rng.random(len(x)) >= drop], ["x"], "acc")


@pytest.mark.parametrize("drop", [0.0, 0.4])
def test_planted_variances_are_found(drop):
    row = variance_components(trials(2.0, 1.0, drop=drop)).iloc[0]
    assert row["between"] == pytest.approx(4, rel=0.25)
    assert row["within"] == pytest.approx(1, rel=0.25)
    assert row["icc"] == pytest.approx(0.8, abs=0.05)
    assert row["icc"] < row["icc_mean"] < 1


def test_luck_alone_has_no_icc():
    assert variance_components(trials(0.0, 1.0)).iloc[0]["icc"] < 0.1


def test_one_repeat_cannot_tell():
    row = variance_components(trials(1.0, 1.0, repeats=1)).iloc[0]
    assert np.isnan(row["icc"])


def test_places_that_only_luck_orders_are_not_told_apart():
    made = trials(0.0, 1.0, designs=20)
    table = distinguishable(made, top=5)
    assert not table["apart"].any()
    assert list(warnings(made, table)) == [
        "4 of the next 4 places are not told from the first (paired t against the first, 0.05)"
    ]


def test_places_far_apart_are_told():
    made = trials(10.0, 0.01, designs=5)
    table = distinguishable(made)
    assert table["apart"].tolist() == [False, True, True, True, True]
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert (table["behind"][1:] > 0).all()
    assert list(warnings(made, table)) == []


def test_without_repeats_nothing_is_claimed():
    made = trials(10.0, 0.1, designs=4, repeats=1)
    assert list(warnings(made, distinguishable(made))) == [
        "3 of the next 3 places share no two repeats with the first"
    ]


def test_folds_of_a_kfold_split_tell_less_apart():
    frame = trials(0.0, 1.0, designs=4).frame.drop(columns=["design"])
    frame = frame.assign(fold=frame["seed"], seed=0, acc=frame["score"], task="t")
    frame = frame.drop(columns=["score", "gain"])
    own, kfold = (study(frame, ["x"], "acc", folds=folds) for folds in (None, {"t": 5}))
    p = [distinguishable(made, correction="bonferroni")["p"].min() for made in (own, kfold)]
    assert p[0] < p[1]
    said = list(warnings(kfold, distinguishable(kfold)))
    assert "folds share training data: correlation 0.2" in said[0]
