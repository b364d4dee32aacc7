"""Aggregations against loops over the edges, on graphs with every awkwardness."""

import pytest
import torch
from torch_geometric.nn.aggr import MaxAggregation, MeanAggregation, SumAggregation

from gymspace import registry, tables
from gymspace.schema import Component
from tests.graph.toys import INDICES, features
from tests.models.designs import toy_graph

PYG = {"add": SumAggregation, "mean": MeanAggregation, "max": MaxAggregation}


def aggregation(name):
    return registry.build("model.agg", Component(name=name))


def by_hand(name, graph):
    """Every node's incoming messages, one by one."""
    x, links = graph.x, graph.links
    weight = torch.ones(links.index.size(1)) if links.weight is None else links.weight
    incoming = [[] for _ in x]
    for (source, target), w in zip(links.index.T.tolist(), weight, strict=True):
        incoming[target].append(x[source] if name == "max" else w * x[source])
    reduce = {
        "add": lambda messages: messages.sum(0),
        "mean": lambda messages: messages.sum(0) / len(messages),
        "max": lambda messages: messages.max(0).values,
    }[name]
    return torch.stack([reduce(torch.stack(m)) if m else torch.zeros_like(x[0]) for m in incoming])


def test_every_aggregation_is_tested():
    assert set(PYG) == set(tables.AGGREGATIONS)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("name", PYG)
def test_it_is_what_a_loop_over_the_edges_gives(name, edges, weighted):
    """Field case E4: isolated nodes, self loops, repeated and directed edges, none at all."""
    graph = toy_graph(edges, weighted=weighted)
    torch.testing.assert_close(aggregation(name)(graph, graph.x), by_hand(name, graph))


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("name", PYG)
def test_it_is_that_of_pyg_with_its_gradient(name, edges):
    graph = toy_graph(edges)
    source, target = graph.links.index
    results = []
    for run in (
        lambda x: aggregation(name)(graph, x),
        lambda x: PYG[name]()(x[source], target, dim_size=x.size(0)),
    ):
        x = graph.x.clone().requires_grad_()
        out = run(x)
        results.append((out, *torch.autograd.grad((out * features(seed=1)).sum(), x)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("name", PYG)
def test_messages_are_reduced_as_neighbours_are(name, edges):
    graph = toy_graph(edges)
    source, target = graph.links.index
    agg = aggregation(name)
    torch.testing.assert_close(agg.reduce(graph.x[source], target, 6), agg(graph, graph.x))


@pytest.mark.parametrize("name", PYG)
def test_weights_matter_where_an_aggregation_says_so(name):
    agg = aggregation(name)
    plain, weighted = (agg(toy_graph(weighted=flag), toy_graph().x) for flag in (False, True))
    assert torch.equal(plain, weighted) == ("edge_weight" not in agg.uses)
