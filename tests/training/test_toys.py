"""A design is tried on a toy: what fails is told with the key of who is at fault."""

import pytest
import torch
from torch import nn

from gymspace.errors import ConfigError
from gymspace.models.heads import GraphHead, NodeHead
from gymspace.models.stages import Stack
from gymspace.records import Inspect
from gymspace.training.toys import toy_graph
from gymspace.training.worker import Worker
from tests.training.trials import spec_of

HERE = "tests.training.test_toys"
GRAPHS = {
    "dataset": {"name": "tests.graph.many:rings", "attr": True},
    "data.split": "random",
    "model.head": "graph",
    "loader": "batches",
}


class BadHead(NodeHead):
    """A head with a mistake."""

    def forward(self, graph):
        raise RuntimeError("no head")


class WideHead(GraphHead):
    """A head that gives a score too many."""

    def forward(self, graph):
        return torch.cat([super().forward(graph)] * 2, dim=1)


class BadStage(Stack):
    """A stage with a mistake."""

    def forward(self, graph):
        return super().forward(graph).with_x(graph.x @ torch.ones(3, 3))


class BadAct(nn.ReLU):
    """An activation with a mistake."""

    def forward(self, x):
        raise RuntimeError("no act")


class Deep(nn.Linear):
    """A layer whose output only what follows cannot take."""

    def forward(self, x, edge_index):
        return super().forward(x).unsqueeze(0)


def fault(keys):
    with pytest.raises(ConfigError) as caught:
        Worker(0, 1)(Inspect(spec_of(keys)), lambda value: None)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"model.head": f"{HERE}:BadHead"}, "model.head"),
        ({"model.stage": f"{HERE}:BadStage"}, "model.stage"),
        ({"model.act": f"{HERE}:BadAct"}, "model.act"),
        ({"model.layer": f"{HERE}:Deep"}, "model.layer"),
        ({"model.layer": f"{HERE}:Deep", "model.layers_post_mp": 0}, "model.layer"),
        ({**GRAPHS, "model.layer": "tests.training.tasks:DropsNodes"}, "model.layer"),
        ({**GRAPHS, "model.head": f"{HERE}:WideHead"}, "model.head"),
    ],
)
def test_who_fails_is_named(keys, key):
    error = fault(keys)
    assert error.key == key
    assert str(error).startswith(f"{key}=")


def test_a_head_of_the_wrong_level_is_named():
    line = str(fault({**GRAPHS, "model.head": "node"}))
    assert line == (
        "model.head=node: scores nodes, and the dataset has a label for each graph: "
        "set model.head=graph"
    )
    assert str(fault({"model.head": "graph"})).endswith("set model.head=node")


def test_a_toy_is_a_batch_where_graphs_have_labels(tmp_path):
    keys = {**GRAPHS, "encodings": ["degree", "spd"], "data.cache": str(tmp_path)}
    spec = spec_of(keys)
    toy = toy_graph(Worker(0, 1)._task(spec).source, spec.encodings)
    assert toy.batch.tolist() == [0, 0, 0, 0, 1]
    assert toy.encodings["degree"].squeeze(1).tolist() == [1, 1, 1, 1, 0]
    assert toy.encodings["spd"].tolist()[4] == [0, -1, -1, -1]
    assert (toy.links.attr.shape, toy.links.weight.shape) == ((4, 2), (4,))


def test_a_batch_size_that_the_loader_does_not_ask_for_is_warned_of():
    """Field case A5."""
    facts = [
        Worker(0, 1)(Inspect(spec_of(keys)), lambda value: None)
        for keys in ({"train.batch_size": 8}, {**GRAPHS, "train.batch_size": 8}, {})
    ]
    line = "train.batch_size changes nothing: loader=full does not ask for it"
    assert [fact.warnings for fact in facts] == [(line,), (), ()]


def test_a_budget_is_that_of_a_baseline_with_a_head_for_graphs():
    keys = {**GRAPHS, "budget": {"match": {"model.layers_mp": 1}, "tolerance": 0.2}}
    base = {**GRAPHS, "model.layers_mp": 1, "model.dim_inner": 64}
    target = Worker(0, 1)(Inspect(spec_of(base)), lambda value: None)
    facts = Worker(0, 1)(Inspect(spec_of({**keys, "model.layers_mp": 3})), lambda value: None)
    assert facts.params == pytest.approx(target.params, rel=0.2)
