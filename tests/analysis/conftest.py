"""A synthetic grid whose effects are known."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from gymspace.analysis.study import Study, study

DIMENSIONS = {"act": ["relu", "prelu", "swish"], "bn": [True, False], "depth": [2, 4, 6, 8]}


@pytest.fixture
def grid() -> Callable[..., pd.DataFrame]:
    """Every combination on each task with each seed; relu, bn and depth are worth most."""

    def make(tasks: int = 2, seeds: int = 3, noise: float = 0.01, seed: int = 0) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        cells = product(range(tasks), *DIMENSIONS.values(), range(seeds))
        frame = pd.DataFrame(cells, columns=["task", *DIMENSIONS, "seed"])
        worth = {"relu": 0.02, "prelu": 0.01, "swish": 0.0}
        score = frame["act"].map(worth) + 0.1 * frame["bn"] + 0.05 * frame["depth"]
        noisy = score + rng.normal(0, noise, len(frame))
        frame["task"] = "t" + frame["task"].astype(str)
        return frame.assign(val_accuracy=noisy, params=100 * frame["depth"], status="done")

    return make


@pytest.fixture
def made(grid) -> Callable[..., Study]:
    """A study of `grid`."""

    def make(**options) -> Study:
        return study(grid(**options), list(DIMENSIONS), "val_accuracy")

    return make
