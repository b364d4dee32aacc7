"""Similarity of tasks, anchors, transfer."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gymspace.analysis.similarity import anchors, recommend, similarity, task_table, transfer
from gymspace.errors import ConfigError


@pytest.fixture
def table():
    """Two families of tasks that rank 40 designs in opposite ways."""
    rng = np.random.default_rng(0)
    skill = rng.normal(size=40)
    columns = {f"{'ab'[i % 2]}{i}": skill * (1 - 2 * (i % 2)) for i in range(6)}
    noisy = {name: values + rng.normal(0, 0.4, 40) for name, values in columns.items()}
    return pd.DataFrame(noisy, index=[f"d{i}" for i in range(40)])


def test_families_stand_side_by_side(table):
    found = similarity(table)
    assert "".join(name[0] for name in found.tau.columns) in ("aaabbb", "bbbaaa")
    assert found.tau.loc["a0", "a2"] > 0.5 > -0.5 > found.tau.loc["a0", "b1"]
    expected = stats.kendalltau(table["a0"], table["b1"]).statistic
    assert found.tau.loc["a0", "b1"] == found.tau.loc["b1", "a0"] == expected


def test_tasks_are_compared_over_what_they_share(table):
    table.loc["d2":, "a0"] = np.nan
    found = similarity(table)
    assert found.shared.loc["a0", "a2"] == 2
    assert np.isnan(found.tau.loc["a0", "a2"])


def test_the_order_of_designs_changes_nothing(table):
    pd.testing.assert_frame_equal(similarity(table).tau, similarity(table[::-1]).tau)


def test_few_anchors_keep_the_similarities(table):
    found = anchors(table, 12)
    assert found["design"].is_unique
    assert found["error"].iloc[-1] < 0.1
    chosen = similarity(table.loc[found["design"]]).tau
    whole = similarity(table).tau
    names = sorted(table.columns)
    gap = (chosen.loc[names, names] - whole.loc[names, names]).to_numpy()
    assert np.abs(gap[np.triu_indices(6, 1)]).mean() == pytest.approx(found["error"].iloc[-1])


def test_all_designs_as_anchors_change_nothing(table):
    assert anchors(table[:8], 99)["error"].iloc[-1] == pytest.approx(0)


def test_a_new_task_is_told_its_nearest_and_what_is_best_there(table):
    fresh = table["a0"][:10]
    found = recommend(table.drop(columns="a0"), fresh)
    assert found["task"].tolist()[0][0] == "a"
    assert found["tau"].is_monotonic_decreasing
    assert found["design"][0] == table[found["task"][0]].idxmax()


def test_transfer_beats_a_random_design(table):
    found = transfer(table, pd.Index(anchors(table, 12)["design"]))
    assert len(found) == 6
    assert (found["source"].str[0] == found["task"].str[0]).all()
    assert found["rank"].mean() < 8  # 20 by chance
    assert (found["regret"] >= 0).all()


def test_what_cannot_be_compared_is_told(table, made):
    with pytest.raises(ConfigError, match="one task"):
        task_table(made(tasks=1))
    with pytest.raises(ConfigError, match="2 designs have a score on every task"):
        anchors(table[:2])
    with pytest.raises(ConfigError, match="no two tasks share 3"):
        similarity(table[:2])
    with pytest.raises(ConfigError, match="no known task shares 3"):
        recommend(table, table["a0"][:2])


def test_designs_are_matched_across_tasks(made):
    assert task_table(made(tasks=3)).shape == (24, 3)
