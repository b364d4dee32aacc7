"""Curves of learning and of searching."""

import pandas as pd
import pytest

from gymspace.analysis.curves import learning_curves, regret
from gymspace.analysis.study import study
from gymspace.errors import ConfigError


def test_a_learning_curve_is_a_mean_over_repeats():
    rows = [(0, 0, 0.2), (0, 1, 0.4), (1, 0, 0.6), (1, 1, 0.6), (1, 2, 0.7)]
    frame = pd.DataFrame(rows, columns=["seed", "epoch", "value"]).assign(task="t", design="d")
    found = learning_curves(frame)
    assert found["mean"].tolist() == pytest.approx([0.4, 0.5, 0.7])
    assert found["n"].tolist() == [2, 2, 1]
    assert found["std"].isna().tolist() == [False, False, True]
    assert (found["low"][0], found["high"][0]) == (0.2, 0.6)


SEARCH = pd.DataFrame(
    {
        "x": [1, 2, 3, 2],
        "seed": [0, 0, 0, 1],
        "acc": [0.5, 0.9, 0.6, 0.1],
        "finished": [10.0, 30.0, 20.0, 40.0],
    }
)


def test_regret_follows_the_order_of_finishing():
    found = regret(study(SEARCH, ["x"], "acc"), SEARCH["finished"])
    assert found["best"].tolist() == [0.5, 0.6, 0.9, 0.9]
    assert found["design"].tolist() == ["x=1", "x=3", "x=2", "x=2"]
    # x=2 looked best by one lucky seed; its mean is 0.5, and the best mean is 0.6.
    assert found["regret"].tolist() == pytest.approx([0.1, 0.0, 0.1, 0.1])


def test_regret_needs_an_order_of_all_trials():
    with pytest.raises(ConfigError, match="has 1 values for 4 trials"):
        regret(study(SEARCH, ["x"], "acc"), SEARCH["finished"][:1])
