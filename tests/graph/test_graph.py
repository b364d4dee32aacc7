"""The graph that blocks hand on: immutable, with adjacencies prepared once."""

from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from gymspace.graph import graph as module
from gymspace.graph.graph import Edges, Graph, Hops, Nodes, Pairs
from tests.graph.toys import AWKWARD, INDICES, features, weights


@pytest.fixture
def prepared(monkeypatch):
    """The kinds that were prepared, in order."""
    kinds = []
    monkeypatch.setattr(
        module,
        "prepare",
        lambda kind, *rest, prepare=module.prepare: kinds.append(kind) or prepare(kind, *rest),
    )
    return kinds


def test_an_adjacency_is_prepared_once_whatever_the_features(prepared):
    graph = Graph.of(features(), AWKWARD)
    for width in (4, 2, 7):
        graph = graph.with_x(features(width))
        assert graph.adj("gcn") is graph.view(0).adj("gcn")
        assert graph.adj("sum") is not graph.adj("gcn")
    assert prepared == ["gcn", "sum"]


def test_another_precision_is_another_adjacency(prepared):
    graph = Graph.of(features(), AWKWARD, edge_weight=weights(AWKWARD))
    half = graph.with_x(features().float())
    assert graph.adj("sum").weight.dtype == torch.float64
    assert half.adj("sum").weight.dtype == torch.float32
    assert (half.adj("sum") @ half.x).dtype == torch.float32
    assert prepared == ["sum", "sum"]


def test_graphs_do_not_share_what_they_prepared(prepared):
    Graph.of(features(), AWKWARD).adj("sum")
    Graph.of(features(), AWKWARD).adj("sum")
    assert prepared == ["sum", "sum"]


def test_edge_weights_count_and_one_is_the_default():
    x = features()
    plain, weighted = Graph.of(x, AWKWARD), Graph.of(x, AWKWARD, edge_weight=weights(AWKWARD))
    assert torch.equal(plain.adj("sum").weight, torch.ones(7, dtype=torch.float64))
    assert torch.equal(weighted.adj("sum").weight, weights(AWKWARD))


@pytest.mark.parametrize("x", [features(20) * (features(20) > 1.2), torch.zeros(6, 20)])
def test_sparse_features_project_as_dense_ones(x):
    x = x.double()
    graph = Graph.of(x, AWKWARD)
    sparse = graph.with_sparse_x()
    weight = torch.randn(20, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(sparse.project(weight), x @ weight)
    grads = [torch.autograd.grad(g.project(weight).square().sum(), weight) for g in (graph, sparse)]
    torch.testing.assert_close(*grads)
    assert sparse.links is graph.links
    assert torch.equal(sparse.x, graph.x)


def test_new_features_are_not_taken_for_the_old_sparse_ones():
    graph = Graph.of(features(), AWKWARD).with_sparse_x().with_x(2 * features())
    assert torch.equal(graph.project(torch.eye(4, dtype=torch.float64)), 2 * features())


def test_with_x_leaves_the_graph_it_came_from_alone():
    x = features()
    batch = torch.zeros(6, dtype=torch.int64)
    edges = {("node", "to", "node"): Edges(AWKWARD)}
    graph = Graph({"node": Nodes(x, batch)}, edges)
    other = graph.with_x(x + 1)
    assert graph.x is x
    assert other.nodes["node"].batch is batch
    assert other.links is graph.links
    with pytest.raises(FrozenInstanceError):
        graph.nodes = {}
    with pytest.raises(FrozenInstanceError):
        graph.links.index = None


def test_one_type_is_spoken_of_only_where_there_is_one():
    nodes = {"user": Nodes(features()), "item": Nodes(features())}
    edges = {("user", "buys", "item"): Edges(AWKWARD), ("item", "to", "user"): Edges(AWKWARD)}
    graph = Graph(nodes, edges)
    for ask in (lambda: graph.x, lambda: graph.links, lambda: graph.with_x(features())):
        with pytest.raises(ValueError, match="unpack"):
            ask()


@pytest.mark.parametrize("edges", INDICES)
def test_edge_data_goes_along(edges):
    index = INDICES[edges]
    attr = torch.ones(index.size(1), 2)
    graph = Graph.of(features(), index, attr, weights(index)).with_x(features(2))
    assert graph.links.attr is attr
    assert graph.links.index is index


def test_graphs_are_told_apart_by_identity():
    graph, other = (Graph.of(features(), AWKWARD) for _ in range(2))
    assert graph != other
    assert len({graph, other, graph}) == 2


def test_dropout_of_sparse_features_is_one_draw_for_product_gradient_and_dense_form():
    x = torch.zeros(40, 30).index_put_((torch.arange(40), torch.arange(40) % 30), torch.tensor(1.0))
    graph = Graph.of(x, torch.empty(2, 0, dtype=torch.int64)).with_sparse_x().dropout(0.5)
    weight = torch.randn(30, 4, requires_grad=True)
    torch.testing.assert_close(graph.project(weight), graph.x @ weight)
    ours = torch.autograd.grad(graph.project(weight).square().sum(), weight)
    torch.testing.assert_close(ours, torch.autograd.grad((graph.x @ weight).square().sum(), weight))
    assert set(graph.x.unique().tolist()) == {0.0, 2.0}
    assert not (graph.x > x * 2).any()


def test_a_sampled_graph_loses_what_later_blocks_cannot_reach():
    """Seed 0, hop 1 brings nodes 1 and 2, hop 2 node 3: two blocks, then only the seed is left."""
    index = torch.tensor([[1, 2, 3], [0, 0, 1]])
    whole = Graph.of(torch.eye(4), index, torch.arange(3.0).unsqueeze(1))
    sampled = replace(whole, hops=Hops(nodes=(1, 2, 1), edges=(2, 1)))
    sizes = [(v.x.size(0), v.links.index.size(1)) for v in map(sampled.view, range(3))]
    assert sizes == [(4, 3), (3, 2), (1, 0)]
    assert sampled.view(1).links.attr.flatten().tolist() == [0.0, 1.0]
    assert sampled.with_x(sampled.x).with_encodings({}).hops is sampled.hops
    assert whole.view(3) is whole


def test_pairs_broadcast_queries_with_their_candidates():
    queries, candidates = torch.zeros(3, 1).long(), torch.arange(5).unsqueeze(0)
    assert Pairs(queries, candidates).shape == (3, 5)
    assert Pairs(candidates[0], candidates[0]).shape == (5,)
