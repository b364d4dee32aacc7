"""Tests over matched groups, and effects with their intervals."""

import numpy as np
import pytest
from scipy import stats

from gymspace.analysis.matched import Matched
from gymspace.analysis.significance import bootstrap_means, corrected, effects, friedman, posthoc


def groups(gains):
    names = tuple("abcdef"[: gains.shape[1]])
    tasks = np.full(len(gains), "t", dtype=object)
    return Matched("x", names, gains, tasks, 0, np.ones(gains.shape))


def normal(rows, shifts, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 1)) + np.array(shifts) + rng.normal(size=(rows, len(shifts)))


def test_friedman_is_scipys_and_w_belongs_to_it():
    gains = normal(20, [0, 0.5, 1]).round(1)  # rounded: with ties
    found, expected = friedman(gains), stats.friedmanchisquare(*gains.T)
    assert (found.statistic, found.p) == (expected.statistic, expected.pvalue)
    assert found.w == pytest.approx(expected.statistic / (20 * 2))


def test_two_choices_are_tested_by_signed_ranks():
    found = friedman(normal(30, [0, 1]))
    assert found.name == "Wilcoxon"
    assert found.p < 0.01
    assert friedman(np.ones((5, 2))).p == 1


def test_too_few_groups_have_no_p():
    assert np.isnan(friedman(normal(1, [0, 1, 2])).p)
    assert friedman(np.ones((4, 3))).p == 1


@pytest.mark.parametrize("method", ["nemenyi", "conover"])
def test_posthoc_finds_the_one_that_differs(method):
    table = posthoc(groups(normal(40, [0, 0, 2])), method)
    assert table.loc["a", "b"] > 0.05
    assert max(table.loc["a", "c"], table.loc["b", "c"]) < 0.001


def test_correction_counts_only_what_was_tested():
    assert corrected([0.01, np.nan, 0.04], "bonferroni")[[0, 2]].tolist() == [0.02, 0.08]
    assert corrected([0.01, 0.04, np.nan], "holm")[:2].tolist() == [0.02, 0.04]


def test_an_effect_is_positive_where_the_first_is_better():
    gains = normal(50, [1, 0])
    gains[0, 1] = np.nan  # a partial group does not count
    row = effects(groups(gains)).iloc[0]
    assert (row["choice"], row["other"], row["groups"]) == ("a", "b", 49)
    assert row["difference"] == pytest.approx((gains[1:, 0] - gains[1:, 1]).mean())
    assert 0 < row["low"] < row["difference"] < row["high"]


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    covered = 0
    for seed in range(200):
        row = effects(groups(normal(40, [0.3, 0], seed)), draws=300, level=0.9, seed=seed).iloc[0]
        covered += row["low"] <= 0.3 <= row["high"]
    assert 170 <= covered <= 190  # 180 expected, standard deviation 4


def test_draws_do_not_depend_on_how_many_are_made_at_once():
    values = np.arange(6.0)[:, None]
    few = bootstrap_means(values, 5, seed=3)
    assert few.shape == (5, 1)
    assert (few == bootstrap_means(values, 5, seed=3)).all()
    assert bootstrap_means(values, 4000, seed=0).mean() == pytest.approx(2.5, abs=0.05)
