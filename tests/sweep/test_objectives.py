"""What a search is after."""

import math

import pytest

from gymspace.errors import ConfigError
from gymspace.spec import parse
from gymspace.sweep.objectives import Objective, directed, named

SPEC = parse({"metrics": ["accuracy", "mae"], "metric": "mae"})


def test_without_a_name_it_is_what_chooses_the_epoch():
    assert named((), SPEC) == ("val_mae",)


def test_directions_are_the_metrics_own_and_costs_are_small():
    names = ("val_accuracy", "train_mae", "val_loss", "params", "seconds")
    found = directed(named(names, SPEC), {"accuracy": "max", "mae": "min"})
    assert [goal.direction for goal in found] == ["maximize", *["minimize"] * 4]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("test_accuracy", "has no say"), ("val_f1", "no such column"), ("accuracy", "no such column")],
)
def test_what_is_no_objective_is_told(name, problem):
    with pytest.raises(ConfigError, match=problem):
        named([name], SPEC)


def test_the_mean_is_over_all_repeats_or_there_is_none():
    goal = Objective("params", "minimize")
    assert goal.mean([{"params": 1}, {"params": 2}]) == 1.5
    assert math.isnan(goal.mean([{"params": 1}, {"params": None}]))
