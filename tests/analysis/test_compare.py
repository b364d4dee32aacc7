"""Two designs or two sweeps."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gymspace.analysis.compare import compare_designs, compare_pairs, compare_studies, more_pairs
from gymspace.analysis.study import study
from gymspace.errors import ConfigError

A, B = "act=relu bn=true depth=8", "act=swish bn=true depth=8"


def pairs(differences):
    return pd.DataFrame({"a": differences, "b": 0.0})


def test_it_is_the_paired_t_test_and_its_posterior():
    d = np.random.default_rng(0).normal(0.3, 1, 12)
    found, expected = compare_pairs(pairs(d)), stats.ttest_1samp(d, 0)
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    # With a flat prior the posterior that a is better is 1 minus the one-sided p.
    assert found.probability == pytest.approx(
        1 - stats.ttest_1samp(d, 0, alternative="greater").pvalue
    )
    assert found.boot_low < found.difference < found.boot_high


def test_folds_that_share_data_are_less_certain():
    d = np.random.default_rng(0).normal(0.5, 1, 10)
    alone, folds = compare_pairs(pairs(d)), compare_pairs(pairs(d), correlation=0.1)
    assert folds.high - folds.low > alone.high - alone.low
    assert 0.5 < folds.probability < alone.probability


def test_a_difference_that_does_not_matter_is_equal():
    found = compare_pairs(pairs([0.01, 0.012, 0.009, 0.011]), rope=0.1)
    assert found.equal > 0.99
    assert found.probability < 0.01


def test_more_seeds_would_settle_it():
    # Tabulated: a paired t-test at 5 % with power 80 % needs 34 pairs for an effect of 0.5.
    assert more_pairs(0.5, 1.0, 10, 0.05, 0.8) == 34 - 10
    assert more_pairs(0.5, 1.0, 34, 0.05, 0.8) == 0
    assert more_pairs(0.0, 1.0, 10, 0.05, 0.8) is None
    assert more_pairs(1e-6, 1.0, 10, 0.05, 0.8) is None


def test_equal_results_differ_in_nothing():
    found = compare_pairs(pairs([0.0, 0.0]))
    assert (found.difference, found.p, found.probability, found.equal) == (0, 1, 0, 1)
    assert compare_pairs(pairs([0.1, 0.1])).p == 0


def test_designs_are_compared_over_the_repeats_both_have(grid):
    """Field case B6: the seed that one lacks counts for neither."""
    trials = grid(tasks=1, seeds=4)
    gone = (trials["act"] == "swish") & (trials["seed"] == 2)
    made = study(trials[~gone], ["act", "bn", "depth"], "val_accuracy")
    found = compare_designs(made, A, B)
    assert found.pairs.index.get_level_values("seed").tolist() == [0, 1, 3]
    with pytest.raises(ConfigError, match="no such design"):
        compare_designs(made, A, "act=gelu")


def test_sweeps_are_compared_design_by_design(grid):
    first, other = grid(noise=0.01), grid(noise=0.01, seed=1)
    other["val_accuracy"] -= 0.05
    a, b = (study(f, ["act", "bn", "depth"], "val_accuracy") for f in (first, other))
    found = compare_studies(a, b)
    assert len(found.pairs) == 48
    assert found.low < 0.05 < found.high
    assert found.probability > 0.999


def test_sweeps_with_other_ids_are_matched_by_what_they_share(grid):
    first = grid(tasks=1)
    a = study(first.assign(design="x"), ["act", "bn", "depth"], "val_accuracy")
    named = first.assign(design="y", extra=1)
    b = study(named, ["act", "bn", "depth", "extra"], "val_accuracy")
    assert len(compare_studies(a, b).pairs) == 24


def test_what_cannot_be_compared_is_told(made, grid):
    with pytest.raises(ConfigError, match="two repeats or designs in common are needed"):
        compare_designs(made(tasks=1, seeds=1), A, B)
    loss = study(grid().assign(loss=1.0), ["act"], "loss")
    with pytest.raises(ConfigError, match="the other sweep has loss"):
        compare_studies(made(), loss)


def test_folds_of_a_kfold_split_are_no_independent_repeats(grid):
    trials = grid(tasks=1, seeds=5).rename(columns={"seed": "fold"})
    names = ["act", "bn", "depth"]
    own, kfold = (study(trials, names, "val_accuracy", folds=f) for f in (None, {"t0": 5}))
    alone, folds = compare_designs(own, A, B), compare_designs(kfold, A, B)
    assert (alone.correlation, folds.correlation) == (0, 0.2)
    assert folds.high - folds.low == pytest.approx(1.5 * (alone.high - alone.low))
    one = study(trials[trials["fold"] == 0], names, "val_accuracy", folds={"t0": 5})
    assert one.correlation("t0", one.frame["fold"]) == 0
