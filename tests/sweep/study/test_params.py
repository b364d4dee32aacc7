"""A space as Optuna's parameters, and back."""

import optuna
import pytest
from optuna.distributions import CategoricalDistribution
from optuna.trial import FixedTrial

from gymspace.sweep.spaces.space import parse_space
from gymspace.sweep.study.params import Params


def drawn(space, **params):
    return Params(parse_space(space), {}).draw(FixedTrial(params))


def test_parameters_are_named_like_keys_and_hold_the_values_of_the_config():
    space = {"model.layers_mp": [2, 4], "optim.lr": {"low": 0.1, "high": 0.2}}
    assignment = drawn(space, **{"model.layers_mp": 4, "optim.lr": 0.15})
    assert assignment == {"model.layers_mp": 4, "optim.lr": 0.15}


def test_mappings_and_lists_have_labels_that_lead_back():
    space = {"model.layer": ["gcn", {"name": "gat", "heads": 4}], "x": [[1, 2], [3]]}
    params = Params(parse_space(space), {})
    trial = FixedTrial({"model.layer": "gat(heads=4)", "x": "[3]"})
    assert params.draw(trial) == {"model.layer": {"name": "gat", "heads": 4}, "x": [3]}
    assert params.fixed({"model.layer": "gcn", "x": [1, 2]}) == {
        "model.layer": "gcn",
        "x": "[1, 2]",
    }


@pytest.mark.parametrize("choices", [[True, 1, 1.0], [False, 0], [{"name": "a"}, "a"]])
def test_choices_that_python_takes_for_equal_stay_apart(choices):
    space = parse_space({"x": choices})
    params = Params(space, {})
    for choice in choices:
        again = params.draw(FixedTrial(params.fixed({"x": choice})))
        assert repr(again) == repr({"x": choice})


def test_a_condition_and_a_zip_are_followed():
    space = {
        "model.stage": ["stack", "gps"],
        "heads": {"choices": [1, 2], "when": {"model.stage": "gps"}},
        "model.dim_inner": {"choices": [8, 16], "with": "model.stage"},
    }
    assert drawn(space, **{"model.stage": "stack"}) == {
        "model.stage": "stack",
        "model.dim_inner": 8,
    }
    gps = {"model.stage": "gps", "model.dim_inner": 16, "heads": 2}
    assert drawn(space, **{"model.stage": "gps", "heads": 2}) == gps
    assert Params(parse_space(space), {}).fixed(gps) == {"model.stage": "gps", "heads": 2}


def test_the_part_of_a_union_is_a_parameter_and_other_choices_another_name():
    space = parse_space([{"model.layer": ["gcn", "gin"]}, {"model.layer": ["gat"], "x": [1, 2]}])
    params = Params(space, {})
    fixed = params.fixed({"model.layer": "gat", "x": 2})
    assert fixed.pop("sweep.space") == 1
    assert fixed.pop("x") == 2
    (other,) = fixed
    assert other.startswith("model.layer ")
    assert params.fixed({"model.layer": "gin"}) == {"sweep.space": 0, "model.layer": "gin"}


def test_names_do_not_depend_on_what_the_study_had_before():
    """Other choices than the study's own have a name of their own; a wider range has not."""
    known = {
        "x": CategoricalDistribution([1, 2]),
        "y": optuna.distributions.FloatDistribution(0, 1),
    }
    space = parse_space({"x": [1, 2, 3], "y": {"low": 0.0, "high": 2.0}})
    first, again = (Params(space, k).fixed({"x": 3, "y": 1.5}) for k in (known, {**known, **known}))
    assert first == again
    assert "y" in first
    assert "x" not in first


def test_steps_are_those_of_the_range():
    space = {"x": {"low": 0.1, "high": 0.5, "step": 0.1}}
    assert drawn(space, x=0.30000000000000004) == {"x": 0.3}
