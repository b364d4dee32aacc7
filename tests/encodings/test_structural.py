"""Walks, degrees, triangles, ranks and paths by formula, and against networkx and PyG."""

import math

import networkx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE

from gymspace.errors import ConfigError
from tests.encodings.graphs import (
    GRAPHS,
    both_ways,
    built,
    carrying,
    path,
    ring,
    star,
    tensors,
    wild,
)


def column(name, index, nodes, **args):
    return tensors(name, index, nodes, **args)[name].squeeze(1)


def of(values):
    return torch.tensor(list(values), dtype=torch.float64)


def test_walks_on_a_ring_come_back_by_binomials():
    found = tensors("rwse", ring(12), 12, steps=10)["rwse"]
    back = [math.comb(s, s // 2) / 2**s if s % 2 == 0 else 0.0 for s in range(1, 11)]
    torch.testing.assert_close(found, of(back).expand(12, -1))


def test_walks_on_a_star_come_back_every_other_step():
    found = tensors("rwse", star(4), 5, steps=4)["rwse"]
    torch.testing.assert_close(found, of([0, 1, 0, 1, *[0, 0.25, 0, 0.25] * 4]).view(5, 4))


def test_walks_follow_the_direction_of_edges():
    around = torch.tensor([[0, 1, 2], [1, 2, 0]])
    found = tensors("rwse", around, 3, steps=6)["rwse"]
    assert found.tolist() == [[0, 0, 1, 0, 0, 1]] * 3


@pytest.mark.parametrize("name", GRAPHS)
def test_walks_are_those_of_pygs_transform(name):
    index, nodes = GRAPHS[name]
    simple = index.unique(dim=1)
    pyg = AddRandomWalkPE(7)(Data(edge_index=simple, num_nodes=nodes)).random_walk_pe
    found = tensors("rwse", index, nodes, steps=7)["rwse"]
    torch.testing.assert_close(found, pyg.double(), rtol=1e-5, atol=1e-6)


def test_degrees_count_what_comes_in():
    index, nodes = GRAPHS["awkward"]
    assert column("degree", index, nodes).tolist() == [2, 0, 2, 3, 0, 0]


def test_clustering_of_a_triangle_with_a_tail():
    index = both_ways([(0, 1), (1, 2), (2, 0), (2, 3)])
    torch.testing.assert_close(column("clustering", index, 5), of([1, 1, 1 / 3, 0, 0]))


def test_clustering_betweenness_and_pagerank_are_networkxs():
    graph, index = wild()
    for name, ask in {
        "clustering": networkx.clustering,
        "betweenness": networkx.betweenness_centrality,
    }.items():
        torch.testing.assert_close(column(name, index, 30), of(ask(graph).values()))
    ranks = networkx.pagerank(graph, tol=1e-12).values()
    torch.testing.assert_close(column("pagerank", index, 30), 30 * of(ranks), rtol=0, atol=1e-7)


def test_pagerank_follows_edges_and_spreads_from_dead_ends():
    index, nodes = GRAPHS["awkward"]
    graph = networkx.DiGraph(index.T.tolist())
    graph.add_node(5)
    ranks = networkx.pagerank(graph, alpha=0.7, tol=1e-13)
    expected = nodes * of(ranks[node] for node in range(nodes))
    found = column("pagerank", index, nodes, damping=0.7)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-8)


def test_pagerank_of_a_ring_is_one_for_all():
    torch.testing.assert_close(column("pagerank", ring(9), 9), torch.ones(9).double())


def test_betweenness_of_a_path_and_of_a_star():
    inner = [2 * i * (6 - i) / 30 for i in range(7)]
    torch.testing.assert_close(column("betweenness", path(7), 7), of(inner))
    torch.testing.assert_close(column("betweenness", star(4), 5), of([1, 0, 0, 0, 0]))


def test_few_sources_stand_for_all():
    """On a ring with its symmetry every source tells as much."""
    found = column("betweenness", ring(40), 40, sources=20)
    exact = column("betweenness", ring(40), 40)
    assert found.mean().item() == pytest.approx(exact.mean().item())
    assert torch.equal(found, column("betweenness", ring(40), 40, sources=20))


def test_path_lengths_on_a_ring_a_star_and_an_isolated_node():
    assert column("path_length", ring(8), 8).tolist() == pytest.approx([16 / 7] * 8)
    found = column("path_length", star(4), 6).tolist()
    assert found == pytest.approx([1, *[7 / 4] * 4, 0])


def test_identity_counts_closed_walks_with_self_loops():
    """A lazy walk on a ring comes back as often as -1, 0 and 1 add up to 0."""
    found = tensors("identity", ring(9), 9, steps=4)["identity.walks"]
    torch.testing.assert_close(found, of([1 / 3, 3 / 9, 7 / 27, 19 / 81]).expand(9, -1))


def test_identity_tells_a_triangle_from_a_square():
    six = both_ways([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    walks = [tensors("identity", index, 6)["identity.walks"] for index in (six, ring(6))]
    assert not torch.allclose(*walks)


def test_identity_marks_the_nodes_of_highest_degree_or_all():
    assert tensors("identity", star(4), 5)["identity"].tolist() == [[1]] * 5
    marks = tensors("identity", path(5), 5, anchors=2)["identity"]
    assert marks.flatten().tolist() == [0, 1, 1, 0, 0]
    assert tensors("identity", path(2), 2, anchors=9)["identity"].tolist() == [[1], [1]]


def test_shortest_paths_follow_edges_and_tell_where_there_is_none():
    found = tensors("spd", torch.tensor([[0, 1], [1, 2]]), 4)["spd"]
    assert found.tolist() == [[0, 1, 2, -1], [-1, 0, 1, -1], [-1, -1, 0, -1], [-1, -1, -1, 0]]
    assert found.dtype == torch.int16


def test_constant_and_onehot():
    assert built("constant", 3, dim=2)(carrying("constant", path(3), 3)).tolist() == [[1, 1]] * 3
    graph = carrying("onehot", path(3), 3)
    assert torch.equal(built("onehot", 3)(graph), torch.eye(3).double())
    assert built("onehot", 3, dim=2)(graph).tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize("damping", [-0.1, 1.0, 2])
def test_pagerank_needs_a_damping_below_one(damping):
    with pytest.raises(ConfigError, match=r"encodings.damping=.*: must be from 0 to below 1"):
        built("pagerank", 3, damping=damping)
