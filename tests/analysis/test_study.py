"""From a frame to a study."""

import numpy as np
import pandas as pd
import pytest

from gymspace.analysis.study import study
from gymspace.errors import ConfigError

TRIALS = pd.DataFrame(
    {
        "task": ["a", "a", "a", "b", "b"],
        "act": ["relu", "relu", "tanh", "relu", "tanh"],
        "seed": [0, 1, 0, 0, 0],
        "status": ["done", "done", "diverged", "done", "done"],
        "val_auc": [0.5, 0.7, 0.9, np.nan, np.nan],
        "val_accuracy": [0.1, 0.1, 0.1, 0.3, np.nan],
        "val_loss": [0.2, 0.4, 0.1, 0.5, 0.6],
    }
)


def test_what_did_not_end_well_is_left_out_and_counted():
    """Field case B4."""
    made = study(TRIALS, ["act"], ["val_auc", "val_accuracy"])
    assert made.left_out == {"diverged": 1, "without score": 1}
    assert made.frame["score"].tolist() == [0.5, 0.7, 0.3]


def test_each_task_is_judged_by_the_first_metric_it_has():
    made = study(TRIALS, ["act"], ["val_auc", "val_accuracy"], keep=("done", "diverged"))
    assert {task: score.column for task, score in made.scores.items()} == {
        "a": "val_auc",
        "b": "val_accuracy",
    }
    assert made.metric == "val_auc, val_accuracy"


def test_a_gain_is_better_high_whatever_the_metric():
    """Field case B1: a loss is better low."""
    assert study(TRIALS, ["act"], "val_loss").frame["gain"].tolist() == [-0.2, -0.4, -0.5, -0.6]
    high = study(TRIALS, ["act"], "val_loss", high=True)
    assert (high.frame["gain"] == high.frame["score"]).all()


def test_a_design_is_the_mean_of_its_own_repeats():
    """Field case B6: a seed that is missing elsewhere changes nothing."""
    designs = study(TRIALS, ["act"], "val_auc").designs
    assert designs[["task", "act", "n"]].to_numpy().tolist() == [["a", "relu", 2]]
    assert designs["score"].tolist() == [0.6]
    assert designs["std"].tolist() == pytest.approx([0.2 / np.sqrt(2)])


def test_what_splits_a_design_splits_its_mean():
    """Ranks and precision are in no design's id, but are dimensions where they vary."""
    trials = pd.DataFrame({"design": "d", "dist.ranks": [1, 2], "acc": [0.1, 0.3]})
    assert study(trials, ["dist.ranks"], "acc").designs["score"].tolist() == [0.1, 0.3]


def test_several_columns_make_a_task():
    made = study(
        TRIALS.rename(columns={"task": "data"}), ["act"], "val_loss", task=["data", "seed"]
    )
    assert set(made.frame["task"]) == {"a 0", "a 1", "b 0"}
    assert set(made.of("b 0").frame["task"]) == {"b 0"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"metric": "val_acuracy"},
            "metric=val_acuracy: no such column; choices: .*val_accuracy\\?",
        ),
        ({"metric": "act"}, "metric=act: no such column"),
        ({"metric": []}, "metric: name one or more"),
        ({"dimensions": ["bn"]}, "dimension=bn: no such column; choices: task, act"),
        ({"dimensions": []}, "dimension: name one or more"),
        ({"task": "dataset"}, "task=dataset: no such column"),
        ({"keep": ["pruned"]}, "metric=val_loss: no trial that counts has a value"),
        ({"dimensions": ["seed"]}, "dimension=seed: is a column of the study itself"),
        ({"probe": "sample"}, "dimension=sample: no such column"),
    ],
)
def test_a_mistake_is_one_line(options, line):
    with pytest.raises(ConfigError, match=line):
        study(TRIALS, **{"dimensions": ["act"], "metric": "val_loss", **options})


def test_a_name_that_is_no_dimension_or_task_is_told():
    made = study(TRIALS, ["act"], "val_loss", aliases={"act": "activation"})
    assert made.dimension("activation") == made.dimension("act") == "act"
    with pytest.raises(ConfigError, match="choices: activation; did you mean activation"):
        made.dimension("activatoin")
    with pytest.raises(ConfigError, match="no such task"):
        made.of("c")


def test_the_order_of_rows_changes_nothing(made):
    whole = made()
    turned = study(whole.frame[::-1], ["act", "bn", "depth"], "val_accuracy")
    pd.testing.assert_frame_equal(whole.designs, turned.designs)
