"""Exphormer against softmax over its edges, and the expander that they come from."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from gymspace.errors import ConfigError
from gymspace.models.expander import expander
from tests.models.batches import EDGE_WIDTH, attention, by_pairs, random_graph, visible


@pytest.mark.parametrize("degree", [4, 6, 10])
@pytest.mark.parametrize("nodes", [1, 2, 4, 5, 6, 7, 8, 11, 12, 13, 40, 101])
def test_an_expander_is_connected_regular_and_simple(nodes, degree):
    index = expander(nodes, degree, seed=0)
    graph = nx.DiGraph(index.T.tolist())
    graph.add_nodes_from(range(nodes))
    assert graph.number_of_edges() == index.size(1) == nodes * min(degree, nodes - 1)
    assert {d for _, d in graph.in_degree()} == {min(degree, nodes - 1)}
    assert nx.is_strongly_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert all(graph.has_edge(target, source) for source, target in graph.edges)


def test_an_expander_expands():
    """The second eigenvalue is near the least possible one, 2 sqrt(degree - 1)."""
    matrix = np.zeros((300, 300))
    matrix[tuple(expander(300, 6, seed=0).numpy())] = 1
    values = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    assert values[-1] == pytest.approx(6)
    assert values[-2] < 2 * np.sqrt(5) + 0.3


def test_an_expander_depends_on_its_arguments_alone():
    again = expander.__wrapped__(30, 4, 0)
    assert torch.equal(expander(30, 4, 0), again)
    assert not torch.equal(expander(30, 4, 1), again)


def test_exphormer_is_softmax_over_the_expander():
    module, graph = attention("exphormer", degree=4, local=False, virtual=0), random_graph(12)
    seen = torch.zeros(12, 12, dtype=torch.bool)
    source, target = expander(12, 4, 0)
    seen[target, source] = True
    assert_close(module(graph), by_pairs(module, graph, visible(seen)))


def test_own_edges_join_in_and_are_gated_by_their_features():
    graph = random_graph(12, attr=True)
    blind = attention("exphormer", virtual=0, local=False)(graph)
    plain = attention("exphormer", virtual=0)(graph)
    module = attention("exphormer", EDGE_WIDTH, virtual=0)
    other = graph.with_links(attr=graph.links.attr * 2)
    assert module.uses == {"edge_attr"}
    assert not torch.allclose(blind, plain)
    assert not torch.allclose(module(graph), module(other))
    assert attention("exphormer", EDGE_WIDTH, local=False).uses == frozenset()


def test_an_edge_with_gate_one_counts_as_one_of_the_expander():
    """A complete graph given twice, as expander and as own edges, is softmax over it once."""
    index = expander(5, 4, 0)
    graph = random_graph(5).with_links(index=index)
    once = attention("exphormer", virtual=0, local=False)
    assert_close(attention("exphormer", virtual=0)(graph), once(graph))


def test_hubs_carry_from_every_node_to_every_node():
    graph = random_graph(60).with_links(index=torch.empty(2, 0, dtype=torch.int64))
    for virtual, reached in ((0, 4), (2, 60)):
        x = graph.x.clone().requires_grad_()
        attention("exphormer", degree=4, virtual=virtual)(graph.with_x(x))[0].sum().backward()
        # Node 0 reads its own features for the query, and those of all that it sees.
        assert (x.grad[1:] != 0).any(1).sum() == min(reached, 59)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("degree", 5, "must be even, 4 or more"),
        ("degree", 2, "must be even, 4 or more"),
        ("virtual", -1, "must be 0 or more"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(name, value, problem):
    with pytest.raises(ConfigError) as caught:
        attention("exphormer", **{name: value})
    assert str(caught.value) == f"model.attention.{name}={value}: {problem}"
