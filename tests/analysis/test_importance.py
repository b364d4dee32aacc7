"""Importance of dimensions."""

import numpy as np
import pandas as pd
import pytest

from gymspace.analysis.importance import importance
from gymspace.analysis.interactions import interactions, main_effects
from gymspace.analysis.study import study
from gymspace.errors import ConfigError

METHODS = ("fanova", "ped_anova", "permutation")


@pytest.mark.parametrize("method", METHODS)
def test_the_planted_dimension_comes_first(made, method):
    found = importance(made(tasks=2, seeds=1), method)
    assert found.table["dimension"].tolist()[0] == "depth"
    assert set(found.table["dimension"]) == {"act", "bn", "depth"}
    assert found.used == found.designs == 48
    assert found.r2 > 0.8 or method == "ped_anova"


def test_the_order_of_rows_changes_nothing(grid):
    trials = grid(seeds=1)
    tables = [
        importance(study(f, ["act", "bn", "depth"], "val_accuracy")).table
        for f in (trials, trials[::-1])
    ]
    pd.testing.assert_frame_equal(*tables)


def test_a_pair_that_works_only_together_is_found():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 300))
    trials = pd.DataFrame({"a": a, "b": b, "c": c, "acc": (a ^ b) + rng.normal(0, 0.1, 300)})
    made = study(trials.assign(seed=range(300), n=range(300)), ["a", "b", "c"], "acc")
    pairs = interactions(made, "a", "b").set_index(["first", "second"])["interaction"]
    assert pairs[1, 0] == pytest.approx(0.5, abs=0.1)
    assert main_effects(made, "a")["effect"].abs().max() < 0.1


def test_permutation_shows_pairs(made):
    pairs = importance(made(tasks=4), "permutation").pairs
    assert len(pairs) == 3
    assert "depth" in set(pairs.iloc[0][["first", "second"]])
    assert "depth" not in set(pairs.iloc[2][["first", "second"]])


@pytest.mark.parametrize("method", METHODS)
def test_empty_and_mixed_cells_are_choices(method):
    """Field case B7, and a key that only some designs have."""
    rng = np.random.default_rng(1)
    clip = rng.choice(np.array([None, "null", True, 1.5], dtype=object), 80)
    heads = rng.choice([np.nan, 2, 4], 80)
    gain = (clip == "null") + 0.01 * rng.normal(size=80)
    trials = pd.DataFrame(
        {"clip": clip, "heads": heads, "lr": rng.choice([0.1, 0.01], 80), "acc": gain}
    )
    table = importance(study(trials, ["clip", "heads", "lr"], "acc"), method).table
    assert table["dimension"][0] == "clip"
    assert np.isfinite(table["importance"]).all()


def test_large_studies_are_sampled_and_say_so(made):
    found = importance(made(tasks=2, seeds=1), "permutation", most=20)
    assert (found.used, found.designs) == (20, 48)


def test_main_effects_are_means_over_designs(made):
    table = main_effects(made(noise=0.0), "bn").set_index("choice")
    assert table["effect"].to_dict() == pytest.approx({False: -0.05, True: 0.05})
    assert table["designs"].to_dict() == {False: 24, True: 24}


def test_what_has_no_importance_is_told(made):
    whole = made(tasks=1, seeds=1)
    with pytest.raises(ConfigError, match="method=shap: unknown choice; choices: fanova"):
        importance(whole, "shap")
    with pytest.raises(ConfigError, match="importance=6: importance needs 8 designs"):
        importance(whole.where(np.arange(24) < 6))
    same = study(whole.frame.assign(acc=1.0), ["act", "depth"], "acc")
    with pytest.raises(ConfigError, match="all designs of a task have the same score"):
        importance(same)
