"""Encodings in a trial: computed for its graph, kept in data.cache, part of the design."""

import pytest
import torch

from gymspace.encodings.structural import RWSE
from gymspace.errors import ConfigError
from gymspace.records import Inspect, Run
from gymspace.spec import design_id
from gymspace.tables import ENCODINGS
from gymspace.training.encoded import known_of, levels
from gymspace.training.worker import Worker
from tests.training.tasks import ring
from tests.training.trials import RING, run, spec_of

ALL = [{"name": name, "k": 3} if "lap" in name else name for name in sorted(ENCODINGS)]


def keys(folder, *encodings, **more):
    return {"data.cache": str(folder / "cache"), "encodings": list(encodings), **more}


def inspected(keys, rank=None, report=lambda value: None):
    return (rank or Worker(0, 1))(Inspect(spec_of(keys)), report)


@pytest.mark.parametrize("edges", ["ring", "none", "loops", "half"])
def test_all_together_train_on_any_graph(tmp_path, edges):
    """Field case E4."""
    asked = keys(tmp_path, *ALL, dataset={"name": RING, "edges": edges})
    assert inspected(asked).params > 0
    assert run(tmp_path / "trial", asked)["status"] == "done"


def test_a_second_start_computes_none(tmp_path, monkeypatch):
    asked = keys(tmp_path, "rwse")
    first = run(tmp_path / "first", asked)
    monkeypatch.setattr(RWSE, "compute", None)
    second = run(tmp_path / "second", asked)
    assert first["test_accuracy"] == second["test_accuracy"]
    assert [first[key] for key in ("val_loss", "params")] == [
        second[key] for key in ("val_loss", "params")
    ]


def test_designs_with_other_encodings_share_one_graph(tmp_path):
    path = tmp_path / "loads"
    counted = {"name": "tests.training.tasks:counted", "path": str(path)}
    rank, params = Worker(0, 1), []
    for encodings in (["rwse"], [], ["degree", "rwse"], ["rwse"]):
        facts = inspected(keys(tmp_path, *encodings, dataset=counted), rank)
        params.append(facts.params)
    assert path.read_text() == "loaded\n"
    assert params[0] == params[3]
    assert len(set(params)) == 3


def test_a_graph_keeps_what_was_prepared_of_its_edges(tmp_path):
    rank, links = Worker(0, 1), []
    for encodings in ([], ["rwse"]):
        spec = spec_of(keys(tmp_path, *encodings))
        links.append(rank._task(spec).source.graph.links)
    assert links[0] is links[1]


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tensors_come_in_the_trials_precision(tmp_path, precision):
    asked = spec_of(keys(tmp_path, "lap", "onehot", precision=precision))
    tensors = Worker(0, 1)._task(asked).source.graph.encodings
    assert tensors["lap"].dtype == getattr(torch, precision)
    assert (tensors["lap.mask"].dtype, tensors["onehot"].dtype) == (torch.bool, torch.int64)


def test_encodings_belong_to_the_design():
    one, other = spec_of({"encodings": ["lap"]}), spec_of({"encodings": ["rwse"]})
    assert len({design_id(spec) for spec in (one, other, spec_of())}) == 3


def test_feature_dropout_and_ema_go_with_them(tmp_path):
    more = {"model.feature_dropout": 0.2, "optim.ema": 0.9}
    assert run(tmp_path / "trial", keys(tmp_path, "lap", **more))["status"] == "done"


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"encodings": [{"name": "lap", "k": 0}]}, "encodings.k=0: must be a whole number of 1"),
        ({"encodings": ["lap", {"name": "lap", "k": 2}]}, "has lap twice"),
        ({"encodings": ["laplacian"]}, "encodings=laplacian: unknown name"),
        ({"encodings": [{"name": "degree", "form": "x"}]}, "encodings.form=x: unknown form"),
        ({"model.node_encoder": "integer"}, "model.node_encoder: needs features that are whole"),
        ({"model.node_encoder": "atom"}, "model.node_encoder: needs features that are whole"),
        ({"model.edge_encoder": "bond"}, "model.edge_encoder=bond: the graph has no edge features"),
        ({"model.layer": "idgcn"}, "model.layer: needs to know the identity nodes"),
    ],
)
def test_what_cannot_be_is_told_before_the_first_trial(asked, line):
    with pytest.raises(ConfigError) as caught:
        inspected(asked)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("layer", ["idgcn", "idsage", "idgat", "idgin"])
def test_identity_layers_learn_who_is_who(tmp_path, layer):
    asked = keys(tmp_path, {"name": "identity", "anchors": 5}, **{"model.layer": layer})
    assert run(tmp_path / "trial", asked)["status"] == "done"


def test_long_work_before_the_trials_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("gymspace.encodings.cache.LONG", -1)
    lines = []
    inspected(keys(tmp_path, "rwse"), report=lines.append)
    assert lines[0].startswith("computed encodings=rwse of 60 nodes in ")


def test_levels_are_the_numbers_that_each_column_has():
    assert levels(torch.tensor([[0.0, 4], [2, 0]])) == (3, 5)
    assert levels(torch.tensor([[1, 2]])) == (2, 3)
    assert levels(torch.empty(0, 2)) == (1, 1)
    for odd in (-1.0, 0.5, torch.nan, torch.inf):
        assert levels(torch.tensor([[odd]])) is None


def test_two_ranks_know_the_same(tmp_path):
    """Each rank reads what the first has computed."""
    spec = spec_of(keys(tmp_path, "lap"))
    found = [Worker(rank, 2)._task(spec).source.graph.encodings["lap"] for rank in (0, 1)]
    assert torch.equal(*found)
    assert len(list((tmp_path / "cache" / "encodings").glob("*.pt"))) == 1


def test_a_run_computes_what_the_cache_has_lost(tmp_path):
    folder = tmp_path / "trial"
    folder.mkdir()
    spec = spec_of(keys(tmp_path, "rwse"))
    assert Worker(0, 1)(Run(spec, folder, {}), lambda value: None)["status"] == "done"


EDGED = {"dataset": {"name": "tests.graph.toys:dataset", "edge_data": True}, "data.split": "random"}


@pytest.mark.parametrize(
    ("encoder", "layer", "warnings"),
    [
        ("linear", "gine", ()),
        ("integer", "general_edge", ()),
        (
            "linear",
            "gcn",
            ("model.edge_encoder=linear changes nothing: model.layer=gcn uses no edge features",),
        ),
    ],
)
def test_an_edge_encoder_feeds_the_layer_or_is_warned_of(tmp_path, encoder, layer, warnings):
    """Field case E2."""
    asked = {**EDGED, "model.edge_encoder": encoder, "model.layer": layer}
    assert inspected(asked).warnings == warnings
    assert run(tmp_path / "trial", asked)["status"] == "done"


def test_layers_know_the_degrees_of_the_graph():
    task = Worker(0, 1)._task(spec_of(EDGED))
    known = known_of(task, spec_of(EDGED))
    assert known.degrees.tolist() == [3, 0, 2, 1]  # of nodes with 0, 1, 2, 3 edges coming in
    assert (known.edge_dim, known.nodes, known.node_levels) == (2, 6, None)


def test_edge_features_without_a_second_dimension_get_one(tmp_path):
    asked = {"dataset": f"{__name__}:lengths", "model.layer": "gine"}
    task = Worker(0, 1)._task(spec_of(asked))
    assert task.source.graph.links.attr.shape == (120, 1)
    assert inspected(asked).params > 0


def lengths():
    data = ring()
    data.edge_attr = torch.ones(data.edge_index.size(1))
    return data
