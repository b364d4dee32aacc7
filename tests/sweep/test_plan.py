"""From a space to trials."""

import pytest

from gymspace.errors import ConfigError
from gymspace.spec import parse
from gymspace.sweep.draws.draw import Grid
from gymspace.sweep.plan import Designer, Trial, assemble, idle_keys, plan, source_hashes
from gymspace.sweep.spaces.space import parse_space

GROUPS = {"dataset": ["digits", "scale_free"]}


def compose(chosen):
    """What Hydra would do: a dataset's config brings its split along."""
    split = {"digits": "per_class", "scale_free": "random"}[chosen["dataset"]]
    return {"dataset": chosen["dataset"], "data": {"split": split}, "seed": 3}


def planned(space, repeats=({"seed": 0, "fold": 0},), base=None):
    return plan(Grid(parse_space(space)), Designer(repeats, base or {}, GROUPS, compose))


def test_trials_come_design_after_design_each_with_its_repeats():
    trials = planned({"model.layers_mp": [2, 3]}, [{"seed": 0}, {"seed": 1}])
    found = [(t.choices["model.layers_mp"], t.spec.model.layers_mp, t.spec.seed) for t in trials]
    assert found == [(2, 2, 0), (2, 2, 1), (3, 3, 0), (3, 3, 1)]
    assert len({t.id for t in trials}) == 4
    assert len({t.design for t in trials}) == 2


def test_two_spellings_of_a_design_are_one_trial():
    trials = planned({"model.layer": ["gat", {"name": "gat"}], "optim.grad_clip": [1, 1.0]})
    assert len(trials) == 1


def test_choices_that_look_alike_are_trials_of_their_own():
    """Field case A3: N distinct designs give N distinct ids."""
    layers = ["gat", {"name": "gat", "heads": 1}, {"name": "gat", "heads": 2}]
    trials = planned({"model.layer": layers, "model.agg": [None, "add"]})
    assert len({t.id for t in trials}) == len({t.design for t in trials}) == 6


def test_a_config_group_is_composed_anew_and_other_keys_are_set():
    config = assemble({"dataset": "scale_free", "seed": 5}, {"loss": "mse"}, GROUPS, compose)
    assert config == {"dataset": "scale_free", "data": {"split": "random"}, "seed": 5}
    own = {"dataset": "experiments.datasets:ring"}
    assert assemble(own, {"loss": "mse"}, GROUPS, compose) == {**own, "loss": "mse"}


@pytest.mark.parametrize("first", ["model.layer.heads", "model.layer"])
def test_a_component_is_named_before_its_arguments_are_set(first):
    space = {"model.layer.heads": [2, 4], "model.layer": ["gat"]}
    order = [first, *(key for key in space if key != first)]
    trials = planned({key: space[key] for key in order})
    assert [dict(t.spec.model.layer.args) for t in trials] == [{"heads": 2}, {"heads": 4}]
    assert trials[0].choices["model.layer"] == "gat"


@pytest.mark.parametrize(
    ("space", "problem"),
    [
        ({"model.layer": ["gcn", "gatt"]}, "did you mean gat?"),
        ({"model.layrs_mp": [1]}, "did you mean model.layers_mp?"),
        ({"model.layers_mp": [2, "3"]}, "must be a whole number, not text"),
        ({"model.layers_mp": [2, -1]}, "model.layers_mp=-1"),
        ({"model.layers_mp.x": [2]}, "model.layers_mp"),
    ],
)
def test_a_choice_that_is_none_is_found_before_anything_runs(space, problem):
    with pytest.raises(ConfigError) as error:
        planned(space)
    assert problem in str(error.value)


def test_user_code_is_told_by_its_source(tmp_path, monkeypatch):
    (tmp_path / "mine_for_plan.py").write_text("class Layer: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    spec = parse({"model": {"layer": "mine_for_plan:Layer"}})
    before = source_hashes(spec, {})
    assert list(before) == ["mine_for_plan:Layer"]
    (tmp_path / "mine_for_plan.py").write_text("class Layer: pass  # changed\n")
    assert source_hashes(spec, {}) != before
    assert source_hashes(parse({}), {}) == {}


def test_user_code_of_a_matched_baseline_is_told_too():
    name = "experiments.layers:HalfMean"
    matched = parse({"budget": {"match": {"model.layer": name, "model.dim_inner": 8}}})
    assert source_hashes(matched, {}) == source_hashes(parse({"model": {"layer": name}}), {})
    nested = parse({"budget": {"match": {"model": {"layer": {"name": name, "alpha": 0.1}}}}})
    assert list(source_hashes(nested, {})) == [name]
    assert source_hashes(parse({"budget": {"match": {"model.agg": None}}}), {}) == {}


def told(space, built):
    trials = planned(space)
    return idle_keys({t.id: built(t.spec.model) for t in trials}, trials)


def test_a_swept_key_that_changes_nothing_is_named_with_its_layer():
    """Field case A5: `agg` under a layer that ignores it."""
    space = {"model.layer": ["gcn", "general"], "model.agg": ["add", "max"]}

    def built(model):
        return model.layer.name + (model.agg.name if model.layer.name == "general" else "")

    assert told(space, built) == [("model.agg", "gcn", True)]


def test_keys_that_change_something_are_not_named():
    space = {"model.agg": ["add", "max"], "model.dropout": [0.0, 0.5], "optim.lr": [0.1, 0.2]}
    assert told(space, repr) == []


def test_only_what_was_built_is_compared():
    trials = planned({"model.agg": ["add", "max"]})
    assert idle_keys({trials[0].id: "same"}, trials) == []
    assert idle_keys({t.id: "same" for t in trials}, trials) == [("model.agg", "general", True)]


def test_a_key_that_changes_nothing_in_some_designs_only_is_told_so():
    space = {"model.layers_mp": [0, 2], "model.stage": ["stack", "skipsum"]}

    def built(model):
        return model.stage.name if model.layers_mp else ""

    assert told(space, built) == [("model.stage", "general", False)]


def test_an_argument_of_user_code_need_not_show_in_what_is_built():
    space = {"model.layer": ["experiments.layers:HalfMean"], "model.layer.alpha": [0.1, 0.5]}
    assert told(space, lambda model: "HalfMean()") == []
    space["model.agg"] = ["add", "max"]
    found = told(space, lambda model: "HalfMean()")
    assert [(key, always) for key, _, always in found] == [("model.agg", True)] * 2


def test_a_trial_does_not_change():
    trial = Trial(parse({}), {}, {})
    with pytest.raises(AttributeError):
        trial.spec = parse({"seed": 1})
