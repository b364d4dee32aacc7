"""The spec: what a config may say, and what it becomes."""

import json

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import ValidationError

from gymspace.__main__ import config_dir
from gymspace.errors import ConfigError
from gymspace.schema import Component, keys
from gymspace.spec import TrialSpec, components, get, parse, replace, trial_id
from gymspace.sweep.settings import Settings, split_config

NAN, INF = float("nan"), float("inf")
MODEL_KEYS = ", ".join(key for key in keys(TrialSpec) if key.startswith("model."))


def fault(config):
    with pytest.raises(ConfigError) as caught:
        parse(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def at(key, value):
    return replace({}, key, value)


def through_json(spec):
    return parse(json.loads(json.dumps(spec.model_dump(mode="json"))))


# Reading


@pytest.fixture(scope="module")
def composed():
    with initialize_config_dir(config_dir=str(config_dir()), version_base="1.3"):
        return OmegaConf.to_container(compose("config"))


def test_defaults_are_those_of_the_config_files(composed):
    """conf/ holds every default, and so does the class; they are one."""
    trial, asked = split_config(composed)
    assert parse(trial) == TrialSpec()
    assert asked == Settings()


def test_every_key_has_its_line_in_the_config_files(composed):
    for key in keys(TrialSpec):
        node = composed
        for part in key.split("."):
            assert part in node, key
            node = node[part]


@pytest.mark.parametrize(
    "config",
    [
        at("dataset", {"name": "pyg", "cls": "Some", "subset": "ogbg-molhiv", "low": -0.5}),
        at("optim.lr", 1e-5),
        at("optim.weight_decay", 1e-300),
        at("model.layer", {"name": "my-layers.v1-2:gat-v2", "slope": -1e-5, "sizes": [-1, -2]}),
        at("data.transform", ["constant", {"name": "degree", "max_degree": 10, "cat": False}]),
        at("metrics", ["accuracy", {"name": "f1", "average": "macro"}]),
        at("model.agg", "max"),
    ],
)
def test_a_spec_comes_back_from_its_file(config):
    """Field case A2: `-` in names, 1e-5 and negative numbers survive spec.json."""
    spec = TrialSpec.model_validate(config)
    again = TrialSpec.model_validate(json.loads(json.dumps(spec.model_dump(mode="json"))))
    assert again == spec
    assert trial_id(again) == trial_id(spec) != trial_id(TrialSpec())


def test_a_spec_is_frozen_and_hashable():
    spec = parse(at("model.layer", {"name": "gat", "heads": 4}))
    assert hash(spec) == hash(through_json(spec))
    assert {spec: "here"}[through_json(spec)] == "here"
    for target, name in [(spec, "seed"), (spec.model, "layers_mp"), (spec.model.layer, "name")]:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(target, name, 1)


def test_arguments_are_sorted_and_lists_are_tuples():
    one = Component.model_validate({"name": "x", "b": [2, 1], "a": 1})
    assert one.args == (("a", 1), ("b", (2, 1)))
    assert one == Component.model_validate({"b": [2, 1], "a": 1, "name": "x"})


@pytest.mark.parametrize(
    ("config", "label", "short"),
    [
        ("gat", "gat", "gat"),
        ({"name": "gat", "heads": 4, "dropout": 0.5}, "gat(dropout=0.5, heads=4)", "gat"),
        ("a.b:C", "a.b:C", "C"),
    ],
)
def test_a_component_as_a_cell(config, label, short):
    component = Component.model_validate(config)
    assert (component.label, component.short) == (label, short)


# Refusing


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.layers_mp", True),
        ("model.layers_mp", "2"),
        ("model.layers_mp", 2.0),
        ("model.layers_mp", -1),
        ("model.layers_mp", None),
        ("model.dim_inner", 0),
        ("model.dropout", 1),
        ("model.dropout", -0.1),
        ("model.dropout", False),
        ("model.layer", 3),
        ("model.layer", None),
        ("model.layer", ["gat"]),
        ("model.layer", {"heads": 4}),
        ("model.layer", {"name": None}),
        ("model.layer", {"name": "gat", "heads": NAN}),
        ("model.layer", {"name": "gat", "heads": {"a": 1}}),
        ("model.layer", {"name": "gat", "heads": [[1]]}),
        ("model.layer", {"name": "gat", 1: 2, "heads": 2}),
        ("model.agg", False),
        ("optim.lr", 0),
        ("optim.lr", NAN),
        ("optim.lr", INF),
        ("optim.lr", True),
        ("optim.grad_clip", 0),
        ("train.epochs", 0),
        ("train.early_stopping", 0),
        ("train.checkpoint", 1),
        ("train.checkpoint", "true"),
        ("data.root", 1),
        ("data.transform", "constant"),
        ("metrics", []),
        ("metrics", "accuracy"),
        ("metrics", ["accuracy", "accuracy"]),
        ("metric", "auc"),
        ("seed", None),
        ("seed", -1),
        ("seed", 2**63),
        ("device", "gpu"),
        ("trial.timeout", 0),
        ("model", 3),
        ("optim", None),
    ],
)
def test_another_type_or_range_is_one_line_that_names_the_key(key, value):
    """Strict: True is not 1, '2' is not 2, nan and infinity are no numbers."""
    assert fault(at(key, value)).startswith(key)


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            at("model.layers_mp", True),
            "model.layers_mp=True: must be a whole number"
            " (YAML reads yes, no, on and off as true and false: quote a name like those)",
        ),
        (
            at("model.layers_mp", "2"),
            "model.layers_mp=2: must be a whole number, not text (write it as 2)",
        ),
        (at("model.layers_mp", "two"), "model.layers_mp=two: must be a whole number, not text"),
        (at("optim.lr", NAN), "optim.lr=nan: must be finite"),
        (
            at("device", "cud"),
            "device=cud: unknown choice; choices: cpu, cuda; did you mean cuda?",
        ),
        (
            at("metrics", ["auc"]),
            "metric=accuracy: chooses the epoch, so metrics=[auc] must have it",
        ),
        (
            at("model.stage", "skip_sum"),
            "model.stage=skip_sum: unknown name (a `module:attr` is taken too);"
            " choices: stack, skipsum, skipconcat, gps; did you mean skipsum?",
        ),
        (
            at("model.layer", {"name": "gat", "heads": INF}),
            "model.layer=inf: an argument must be a scalar (no nan, no inf) or a list of such",
        ),
    ],
)
def test_the_whole_line(config, line):
    assert fault(config) == line


def test_numbers_that_yaml_reads_as_text_are_told():
    """Field case G4: `lr: 1e-3` is text in plain YAML."""
    line = "optim.lr=1e-3: must be a number, not text (write it as 0.001)"
    assert fault(at("optim.lr", "1e-3")) == line


def test_names_that_yaml_reads_as_false_are_told():
    """Field case G4: `act: no` is False."""
    line = fault(at("model.act", False))
    assert line.startswith("model.act=False: is neither a name nor {name: ..., argument: ...}")
    assert "YAML reads yes, no, on and off as true and false" in line


@pytest.mark.parametrize(
    ("key", "named", "near"),
    [
        ("modle", "dataset, data, metrics", "model"),
        ("model.layer_mp", MODEL_KEYS, "model.layers_mp"),
        ("model.args", MODEL_KEYS, "model.agg"),
        ("optim.learn_rate", "optim.optimizer, optim.lr", None),
        ("lr", "dataset, data", "optim.lr"),
        ("layers_mp", "dataset, data", "model.layers_mp"),
        ("model.weight_decay", MODEL_KEYS, "optim.weight_decay"),
        ("data.spilt", "data.root, data.cache, data.split", "data.split"),
        ("train.epoch", "train.epochs, train.eval_every", "train.epochs"),
        ("dist.rank", "dist.ranks", "dist.ranks"),
        ("log.tensorbord", "log.tensorboard", "log.tensorboard"),
    ],
)
def test_an_unknown_key_names_its_neighbours_and_the_nearest(key, named, near):
    """Field case A5: an unknown key is an error, at every level."""
    line = fault(at(key, 3))
    assert line.startswith(f"{key}: unknown key; choices: {named}")
    assert line.endswith(f"; did you mean {near}?" if near else line[-1])


def test_an_unknown_key_is_told_before_any_other_fault():
    assert fault({"seed": -1, "sede": 2}).startswith("sede: unknown key")


def test_names_are_looked_up_in_every_slot():
    """No name is left for the first trial to stumble over."""
    for key, _ in components(parse({"data": {"transform": ["constant"]}, "model": {"agg": "max"}})):
        several = key in ("data.transform", "metrics")
        config = at(key, ["nowhere"] if several else "nowhere")
        extra = {"metric": "nowhere"} if key == "metrics" else {}
        assert fault({**config, **extra}).startswith(f"{key}=nowhere: unknown name")


# Dotted keys


def test_get_reaches_arguments_of_components():
    spec = parse(at("model.layer", {"name": "gat", "heads": 4}))
    assert get(spec, "model.layer.heads") == 4
    assert get(spec, "model.layer.name") == "gat"
    assert get(spec, "model.layers_mp") == 2
    assert get(spec, "model.agg") is None


@pytest.mark.parametrize(
    "key", ["model.layer.heads", "model.agg.name", "model.nothing", "seed.x", "model.model_fields"]
)
def test_what_a_design_does_not_have_is_a_key_error(key):
    """An absent argument is an empty cell, which is not the choice null."""
    with pytest.raises(KeyError, match=key):
        get(TrialSpec(), key)


def test_replace_leaves_the_original_alone():
    config = {"model": {"layer": "gat", "norm": "none"}}
    changed = replace(config, "model.layer.heads", 4)
    assert changed == {"model": {"layer": {"name": "gat", "heads": 4}, "norm": "none"}}
    assert config == {"model": {"layer": "gat", "norm": "none"}}


def test_replace_refuses_to_go_below_a_number():
    with pytest.raises(ConfigError, match="'seed' is 3 and has no keys"):
        replace({"seed": 3}, "seed.x", 1)


def test_a_budget_may_be_written_with_an_exponent():
    budgets = [parse({"budget": value}).budget for value in (10_000, 1e4, {"params": 1e4})]
    assert budgets == budgets[:1] * 3
    assert type(budgets[1].params) is int
