"""Labels of nodes on many graphs: a batch is of graphs, and a row is a node."""

from dataclasses import replace
from itertools import chain

import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.records import Inspect
from gymspace.training.batches import SPLITS, full_graph
from gymspace.training.encoded import known_of
from gymspace.training.fit import evaluate, fit
from gymspace.training.graph_batches import graph_batches
from gymspace.training.group import Group
from gymspace.training.worker import Worker
from tests.graph import raw
from tests.training.trials import assembled, run, spec_of

NODES = {"dataset": {"name": "tests.graph.many:of_nodes"}, "loader": "batches"}
WITHIN = {**NODES, "dataset": {"name": "tests.graph.many:of_nodes", "within": True}}


def marked(keys):
    """A task whose labels are the nodes' numbers."""
    task = Worker(0, 1)._task(spec_of(keys))
    task.source.y.copy_(torch.arange(len(task.source.y)))
    return task


def judged(batches, split):
    return list(chain.from_iterable(batch.y[batch.rows[split]].tolist() for batch in batches))


@pytest.mark.parametrize("keys", [NODES, WITHIN], ids=["whole graphs", "within graphs"])
@pytest.mark.parametrize(("size", "ranks"), [(100, 1), (4, 2), (1, 3), (5, 20)])
def test_each_node_is_learnt_from_and_judged_once(keys, size, ranks):
    """Field cases C2, F1."""
    task = marked(keys)
    loaders = [graph_batches(task, Group(rank, ranks), size, 0) for rank in range(ranks)]
    rows = {name: getattr(task.split, name).nonzero().squeeze(1).tolist() for name in SPLITS}
    learnt = [list(loader.train(2)) for loader in loaders]
    assert [len(batches) for batches in learnt] == [len(loader) for loader in loaders]
    assert sorted(chain.from_iterable(judged(b, "train") for b in learnt)) == rows["train"]
    for name in SPLITS:
        shares = [judged(loader.evaluate(), name) for loader in loaders]
        assert sorted(chain.from_iterable(shares)) == rows[name]


@pytest.mark.parametrize("loader", ["batches", "full"])
def test_only_graphs_with_a_node_for_training_are_learnt_from(loader):
    """The inductive setting: a graph for test is not even passed through in training."""
    keys = {**NODES, "loader": loader, "train.batch_size": 100}
    task = Worker(0, 1)._task(spec_of(keys))
    trains = full_graph(task, Group()) if loader == "full" else graph_batches(task, Group(), 100, 0)
    (batch,) = trains.train(0)
    assert int(batch.graph.batch[-1]) + 1 == 14  # of 40
    assert torch.equal(batch.rows["train"], torch.arange(len(batch.y)))


@pytest.mark.parametrize("keys", [NODES, WITHIN], ids=["whole graphs", "within graphs"])
def test_one_batch_of_all_training_graphs_is_the_full_loader(keys):
    keys = {**keys, "precision": "float64", "train.batch_size": 100}
    losses = []
    for loader in ("batches", "full"):
        trial = assembled({**keys, "loader": loader})
        losses.append([(e.loss, e.scores["test_loss"].value) for e in fit(trial, 3)])
    torch.testing.assert_close(*map(torch.tensor, losses), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 9])
def test_scores_do_not_depend_on_the_batches(size):
    """Field case C1."""
    keys = {**WITHIN, "metrics": ["accuracy", "auc"], "precision": "float64"}
    trial = assembled({**keys, "train.batch_size": 100})
    small = assembled({**keys, "train.batch_size": size}).loader
    one, many = evaluate(trial), evaluate(replace(trial, loader=small))
    for name, score in one.items():
        assert many[name].n == score.n
        assert many[name].value == pytest.approx(score.value, rel=1e-10)


@pytest.mark.parametrize(
    "keys",
    [
        {"dataset.tasks": 3, "loss": "bce", "metrics": [{"name": "f1", "average": "micro"}]},
        {"encodings": ["rwse"], "model.norm": "graph"},
        {"model.layers_post_mp": 0, "model.layer": "sage", "model.norm": "none"},
    ],
    ids=["several labels", "encodings", "bare head"],
)
def test_what_nodes_say_of_themselves_is_learnt(tmp_path, keys):
    keys = {**WITHIN, "train.epochs": 30, **keys}
    keys |= {"metric": "f1"} if "metrics" in keys else {}
    result = run(tmp_path / "trial", keys)
    assert result["status"] == "done"
    assert result[f"test_{result['metric']}"] > 0.75


def test_ppi_is_learnt_in_its_own_layout(tmp_path):
    """Twenty-four graphs in the real one: 121 labels for each node, and a split of graphs."""
    raw.ppi(tmp_path)
    keys = {"dataset": "ppi", "data.root": str(tmp_path), "data.cache": str(tmp_path / "cache")}
    keys |= {"loss": "bce", "metrics": [{"name": "f1", "average": "micro"}], "metric": "f1"}
    result = run(tmp_path / "trial", {**keys, "loader": "batches", "train.batch_size": 2})
    train, val, test = (sum(raw.sizes(part)) for part in raw.COUNTS)
    assert result["split"] == f"own: {train}/{val}/{test}"
    assert (result["status"], result["params"] > 0) == ("done", True)


def test_degrees_are_those_of_the_training_graphs():
    task = Worker(0, 1)._task(spec_of(NODES))
    known = known_of(task, spec_of(NODES))
    assert known.degrees.sum() == task.split.train.sum()
    assert known.level == "node"


def test_a_head_for_graphs_is_refused():
    with pytest.raises(ConfigError) as caught:
        Worker(0, 1)(Inspect(spec_of({**NODES, "model.head": "graph"})), lambda value: None)
    assert str(caught.value) == (
        "model.head=graph: scores graphs, and the dataset has a label for each node: "
        "set model.head=node"
    )
