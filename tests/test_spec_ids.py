"""Ids: the same for ever, one for each design, and blind to what changes no result."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymspace.schema import keys
from gymspace.spec import TrialSpec, design_id, identity, parse, replace, task_id, trial_id

IDS = json.loads((Path(__file__).parent / "ids.json").read_text())


def at(key, value):
    return replace({}, key, value)


def through_json(spec):
    return parse(json.loads(json.dumps(spec.model_dump(mode="json"))))


@pytest.mark.parametrize("row", IDS, ids=lambda row: json.dumps(row["config"])[:60])
def test_committed_ids_never_change(row):
    """A results folder made by any earlier version finds its trials again."""
    spec = parse(row["config"])
    assert (trial_id(spec), design_id(spec), task_id(spec)) == (
        row["trial"],
        row["design"],
        row["task"],
    )


# For every key another value, and which of the ids trial, design and task it changes.
CHANGES = {
    "dataset": ("cora", "trial task"),
    "data.root": ("elsewhere", ""),
    "data.cache": ("elsewhere", ""),
    "data.split": ("own", "trial task"),
    "data.transform": (["constant"], "trial task"),
    "metrics": (["accuracy", "f1"], "trial task"),
    "metric": ("f1", "trial task"),
    "model.layer": ("gcn", "trial design"),
    "model.layers_pre_mp": (0, "trial design"),
    "model.layers_mp": (3, "trial design"),
    "model.layers_post_mp": (0, "trial design"),
    "model.stage": ("skipsum", "trial design"),
    "model.dim_inner": (8, "trial design"),
    "model.norm": ("none", "trial design"),
    "model.act": ("relu", "trial design"),
    "model.dropout": (0.5, "trial design"),
    "model.feature_dropout": (0.5, "trial design"),
    "model.agg": ("max", "trial design"),
    "model.l2norm": ("none", "trial design"),
    "model.head": ("experiments.layers:HalfMean", "trial design"),
    "model.node_encoder": ("linear", "trial design"),
    "model.edge_encoder": ("linear", "trial design"),
    "model.attention": ("linear", "trial design"),
    "model.jumping": ("max", "trial design"),
    "model.residual": (True, "trial design"),
    "model.norm_first": (True, "trial design"),
    "model.drop_edge": (0.5, "trial design"),
    "budget": (1000, "trial design"),
    "encodings": (["lap"], "trial design"),
    "optim.accumulate": (2, "trial design"),
    "optim.ema": (0.9, "trial design"),
    "optim.decay_norms": (False, "trial design"),
    "optim.optimizer": ("sgd", "trial design"),
    "optim.lr": (1e-3, "trial design"),
    "optim.weight_decay": (0, "trial design"),
    "optim.scheduler": ("none", "trial design"),
    "optim.grad_clip": (1, "trial design"),
    "train.epochs": (10, "trial design"),
    "train.eval_every": (2, "trial design"),
    "train.early_stopping": (5, "trial design"),
    "train.checkpoint": (True, "trial design"),
    "train.batch_size": (64, "trial design"),
    "loss": ("mse", "trial design"),
    "loader": ("experiments.datasets:ring", "trial design"),
    "seed": (1, "trial"),
    "fold": (1, "trial"),
    "device": ("cuda", "trial"),
    "precision": ("float64", "trial"),
    "dist.ranks": (2, "trial"),
    "trial.timeout": (60, ""),
    "log.tensorboard": (False, ""),
    "log.embeddings": (True, ""),
    "log.rank_plots": (True, ""),
}


def test_every_key_is_known_to_belong_to_some_ids_or_to_none():
    assert set(CHANGES) == set(keys(TrialSpec))


@pytest.mark.parametrize(("key", "value", "changed"), [(k, *v) for k, v in CHANGES.items()])
def test_a_key_changes_the_ids_it_belongs_to_and_no_other(key, value, changed):
    extra = {"metrics": ["accuracy", "f1"]} if key == "metric" else {}
    before, after = parse(extra), parse({**extra, **at(key, value)})
    ids = {"trial": trial_id, "design": design_id, "task": task_id}
    assert [name for name, of in ids.items() if of(before) != of(after)] == [
        name for name in ids if name in changed.split()
    ]


def test_writing_a_default_out_is_the_same_trial():
    spec = parse({"model": {"layer": {"name": "general"}, "layers_mp": 2}, "optim": {"lr": 0.01}})
    assert (spec, trial_id(spec)) == (TrialSpec(), trial_id(TrialSpec()))


ALIKE = [1, [1], 1.5, "1", "1.0", "[1]", ["1"], [1, 2], "1,2", True, "True", "true", False, 0, "0"]
ALIKE += [
    None,
    "None",
    "null",
    "NA",
    "",
    " ",
    [],
    [None],
    "a/b",
    "a_b",
    "a.b",
    "v1.2",
    "v1",
    "v1.3",
]
ALIKE += ["x" * 300 + "a", "x" * 300 + "b", -1, "-1", 1e-5, "1e-05", "a=1", "a,b=2"]


def test_designs_that_look_alike_have_their_own_ids():
    """Field case A3: N distinct designs give N distinct ids."""
    specs = [parse(at("model.layer", {"name": "general", "a": value})) for value in ALIKE]
    specs += [parse(at("model.layer", {"name": "general", "b": value})) for value in ALIKE]
    specs += [parse(at("model.layer", {"name": "general", "a": 1, "b": 2})), TrialSpec()]
    assert len({design_id(spec) for spec in specs}) == len(specs)
    assert len({trial_id(spec) for spec in specs}) == len(specs)


SCALARS = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.one_of(st.none(), SCALARS, st.lists(SCALARS, max_size=3))
NAMES = st.text(min_size=1).filter(lambda name: name != "name")
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)


@settings(max_examples=150, deadline=None)
@given(ARGUMENTS, ARGUMENTS)
def test_ids_are_equal_only_for_equal_designs(one, other):
    """Field case A3, for any arguments; Field case A2, for the way through JSON."""
    specs = [parse(at("model.layer", {"name": "general", **args})) for args in (one, other)]
    written = [json.dumps(args, sort_keys=True) for args in (one, other)]
    assert (design_id(specs[0]) == design_id(specs[1])) == (written[0] == written[1])
    assert through_json(specs[0]) == specs[0]


def test_seed_zero_is_a_seed():
    """Field case G3: seed=0 is not "no seed"."""
    spec = parse({"seed": 0})
    assert spec.seed == 0
    assert trial_id(spec) != trial_id(parse({"seed": 1}))


def test_identity_says_which_trial_it_is():
    spec = parse({"seed": 3, "fold": 2, "dist": {"ranks": 4}})
    assert identity(spec) == {
        "trial": trial_id(spec),
        "design": design_id(TrialSpec()),
        "task": task_id(TrialSpec()),
        "seed": 3,
        "fold": 2,
        "ranks": 4,
    }
