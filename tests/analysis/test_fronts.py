"""Pareto fronts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gymspace.analysis.fronts import front, pareto
from gymspace.errors import ConfigError

SMALL = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
TABLES = st.integers(1, 4).flatmap(lambda k: arrays(float, (12, k), elements=SMALL))


@given(TABLES)
def test_on_the_front_is_what_no_other_beats(values):
    frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])
    found = pareto(frame, dict.fromkeys(frame, "max"))
    for row, on in zip(values, found, strict=True):
        beaten = [(other >= row).all() and (other > row).any() for other in values]
        assert on == (np.isfinite(row).all() and not any(beaten))


def test_less_can_be_better():
    frame = pd.DataFrame({"acc": [0.9, 0.8, 0.7], "params": [100, 10, 20]})
    assert pareto(frame, {"acc": "max", "params": "min"}).tolist() == [True, True, False]


def test_each_task_has_its_own_front(made):
    found = front(made(noise=0.0))
    assert found.groupby("task")["depth"].apply(list).to_dict() == {
        "t0": [8, 6, 4, 2],
        "t1": [8, 6, 4, 2],
    }
    assert set(found["act"]) == {"relu"}
    assert set(front(made(), task="t0")["task"]) == {"t0"}


def test_what_is_no_objective_is_told(made):
    with pytest.raises(ConfigError, match=r"objective=memory: no such column; choices: .*params"):
        front(made(), {"memory": "min"})
    with pytest.raises(ConfigError, match="objective=least: unknown choice"):
        front(made(), {"params": "least"})
