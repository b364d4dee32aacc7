"""What has no effect is told before the first trial."""

import pytest

from gymspace.records import Inspect
from gymspace.training.worker import Worker
from tests.training.trials import spec_of

EDGED = {"dataset": {"name": "tests.graph.toys:dataset", "edge_data": True}, "data.split": "random"}
IGNORED = [
    ({"model.agg": "max", "model.layer": "gcn"}, "model.agg", "model.layer=gcn"),
    ({"model.attention": "linear"}, "model.attention", "model.stage=stack"),
    ({"train.batch_size": 8}, "train.batch_size", "loader=full"),
]


def warnings(keys):
    return Worker(0, 1)(Inspect(spec_of(keys)), lambda value: None).warnings


@pytest.mark.parametrize(("keys", "key", "slot"), IGNORED, ids=[row[1] for row in IGNORED])
def test_what_nobody_asks_for_is_told(keys, key, slot):
    """Field case A5, for a key that is set and not swept."""
    assert warnings(keys) == (f"{key} changes nothing: {slot} does not ask for it",)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"model.agg": "max"},
        {"model.attention": "linear", "model.stage": "gps"},
        {"model.jumping": "max", "model.residual": True, "model.stage": "skipsum"},
        {"optim.decay_norms": False},
        {"model.dim_inner": 16},
    ],
)
def test_what_has_an_effect_is_not_told(keys):
    assert warnings(keys) == ()


def test_what_another_key_decides_is_told():
    budget = {"params": 2000, "tolerance": 0.2}
    told = ("model.dim_inner changes nothing: the budget chooses it",)
    assert warnings({"budget": budget}) == told  # the small trials are 8 wide
    assert warnings({"budget": budget, "model.dim_inner": 64}) == ()
    told = ("optim.decay_norms changes nothing: optim.weight_decay=0",)
    assert warnings({"optim.decay_norms": False, "optim.weight_decay": 0.0}) == told


ATTENDED = {"encodings": ["spd"], "model.stage": "gps"}


@pytest.mark.parametrize("attention", [None, "linear"])
def test_an_encoding_that_no_attention_reads_is_told(attention):
    """Field case A5."""
    (told,) = warnings({**ATTENDED, "model.attention": attention})
    start = "encodings=spd changes nothing: it is for an attention that reads it"
    assert told == f"{start}, and model.attention={attention}"


@pytest.mark.parametrize(
    "keys",
    [
        {"model.attention": "graphormer"},
        {"model.layer": "tests.training.tasks:RaisesInTraining"},
        {"encodings": ["rwse"]},
    ],
)
def test_an_encoding_that_may_be_read_is_not_told(keys):
    assert warnings({**ATTENDED, **keys}) == ()


@pytest.mark.parametrize("layer", ["gat", "gcn", "general", "sage", "cheb"])
def test_a_layer_that_reads_no_edge_features_is_told(layer):
    """Field case E2: also where the layer could, as GAT."""
    (told,) = warnings({**EDGED, "model.edge_encoder": "linear", "model.layer": layer})
    start = f"model.edge_encoder=linear changes nothing: model.layer={layer} uses no edge features"
    assert told == start + (", unless its edge_attr is true" if layer == "gat" else "")


@pytest.mark.parametrize(
    "layer", [{"name": "gat", "edge_attr": True}, "gatv2", "gine", "gatedgcn", "gen", "transformer"]
)
def test_a_layer_that_reads_edge_features_is_not_told(layer):
    assert warnings({**EDGED, "model.edge_encoder": "linear", "model.layer": layer}) == ()
