"""Norms: PyG's numbers, graph by graph, whoever shares the batch."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from gymspace import registry, tables
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.norms import Chain
from gymspace.schema import Component
from tests.models.designs import build

BY_GRAPH = ("graph", "pair", "instance")
BATCH = torch.tensor([0, 0, 0, 1, 2, 2])


def norm_of(name, dim=4, **arguments):
    component = Component.model_validate({"name": name, **arguments})
    return registry.build("model.norm", component, dim).double()


def randomise(module):
    """Other weights than ones and zeros, the same at each call."""
    torch.manual_seed(1)
    for parameter in module.parameters():
        nn.init.uniform_(parameter, 0.5, 1.5)
    return module


def batched(x, batch, index):
    graph = Graph.of(x, index)
    return Graph({"node": replace(graph.nodes["node"], batch=batch)}, graph.edges)


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("graph", pyg.GraphNorm(4)),
        ("pair", pyg.PairNorm()),
        ("instance", pyg.InstanceNorm(4, affine=True)),
        ("layer", pyg.LayerNorm(4, mode="node")),
    ],
)
@pytest.mark.parametrize("batch", [None, BATCH])
def test_a_norm_gives_what_pygs_gives(name, peer, batch):
    """Values and gradients."""
    x = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    norm, peer = randomise(norm_of(name)), randomise(peer.double())
    ours, theirs = Chain(norm)(x, batch), peer(x, batch)
    torch.testing.assert_close(ours, theirs)
    inputs = [(x, *module.parameters()) for module in (norm, peer)]
    grads = [
        torch.autograd.grad(out.pow(3).sum(), of)
        for out, of in zip((ours, theirs), inputs, strict=True)
    ]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("name", [*BY_GRAPH, "layer", "none"])
def test_a_nodes_scores_do_not_depend_on_who_shares_its_batch(name, norm_first):
    """All norms but that over the batch; also for a graph of one node, in training."""
    model = randomise(build(norm=name, norm_first=norm_first, jumping="concat"))
    x, index = torch.randn(6, 4, dtype=torch.float64), torch.tensor([[0, 1, 4], [1, 2, 5]])
    together = model(batched(x, BATCH, index))
    for first, end, edges in ((0, 3, [0, 1]), (3, 4, []), (4, 6, [2])):
        alone = Graph.of(x[first:end], index[:, edges] - first)
        torch.testing.assert_close(model(alone), together[first:end])
        told = batched(alone.x, BATCH.new_zeros(end - first), alone.links.index)
        torch.testing.assert_close(model(told), together[first:end])


def test_only_the_batch_norm_looks_across_graphs():
    x = torch.randn(6, 4, dtype=torch.float64)
    other = torch.cat([x[:3], x[3:] + 1])
    for name in tables.NORMS:
        norm = Chain(norm_of(name))
        same = torch.allclose(norm(x, BATCH)[:3], norm(other, BATCH)[:3])
        assert same == (name != "batch")


@pytest.mark.parametrize(("name", "learnt"), [("graph", 12), ("pair", 0), ("instance", 8)])
def test_what_a_norm_learns(name, learnt):
    assert sum(p.numel() for p in norm_of(name).parameters()) == learnt


def test_pairnorm_keeps_the_mean_squared_length_of_each_graph():
    out = norm_of("pair", scale=2.0)(torch.randn(6, 4, dtype=torch.float64), BATCH)
    lengths = out.square().sum(1)
    assert lengths[:3].mean().item() == pytest.approx(4, abs=1e-3)
    assert lengths[4:].mean().item() == pytest.approx(4, abs=1e-3)


def test_a_norm_of_pygs_is_told_the_graphs_too():
    model = build(norm="torch_geometric.nn:GraphNorm")
    assert any(isinstance(part, pyg.GraphNorm) for part in model.modules())
    x = torch.randn(6, 4, dtype=torch.float64)
    torch.testing.assert_close(
        Chain(norm_of("torch_geometric.nn:GraphNorm"))(x, BATCH), norm_of("graph")(x, BATCH)
    )


@pytest.mark.parametrize("name", BY_GRAPH)
def test_a_norms_arguments_show(name):
    """Field case A5: designs are told apart by what they read like."""
    assert repr(norm_of(name)) != repr(norm_of(name, eps=0.1))


def test_a_norm_is_held_to_its_arguments():
    with pytest.raises(ConfigError, match="'none' takes no such argument"):
        norm_of("none", eps=1e-3)
    assert norm_of("instance", affine=False).weight is None


def test_a_row_alone_is_normed_by_what_was_gathered_before():
    """Field case F1: a batch of one graph, after pooling."""
    norm, rows = norm_of("batch"), torch.randn(6, 4, dtype=torch.float64)
    theirs = torch.nn.BatchNorm1d(4).double()
    torch.testing.assert_close(norm(rows), theirs(rows))
    torch.testing.assert_close(norm(rows[:1]), theirs.eval()(rows[:1]))
    assert norm.num_batches_tracked == 1
