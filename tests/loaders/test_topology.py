"""Columns hold the edges that were given, and what cannot be is told in one line."""

import numpy as np
import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.loaders.topology import Network, Topology

EDGES = torch.tensor([[0, 3, 1, 2, 0], [2, 1, 2, 0, 1]])


def columns(made: Topology) -> list[list[int]]:
    return [made.source[a:b].tolist() for a, b in zip(made.start, made.start[1:], strict=False)]


def test_a_column_has_the_sources_in_the_given_order():
    made = Topology.of(EDGES, 4)
    assert columns(made) == [[2], [3, 0], [0, 1], []]
    assert made.places(torch.arange(5)).tolist() == [3, 1, 4, 0, 2]
    assert made.source.dtype == made.start.dtype == np.int32


def test_sorted_edges_need_no_order():
    made = Topology.of(torch.tensor([[1, 0, 0], [0, 1, 2]]), 3)
    assert made.order is None
    assert made.places(torch.tensor([2])).tolist() == [2]


def test_a_graph_without_edges_has_columns():
    """Field case E4."""
    assert columns(Topology.of(torch.empty(2, 0, dtype=torch.long), 2)) == [[], []]


@pytest.mark.parametrize(
    ("edges", "line"),
    [
        (torch.zeros(3, 2, dtype=torch.long), "edge_index: has shape [3, 2], not [2, edges]"),
        (torch.zeros(2, 2), "edge_index: holds float32, not integers"),
        (torch.tensor([[0], [4]]), "edge_index: has target 4, and there are 4 nodes"),
        (torch.tensor([[-1], [0]]), "edge_index: has source -1, and there are 4 nodes"),
    ],
)
def test_what_cannot_be_is_one_line(edges, line):
    with pytest.raises(ConfigError) as caught:
        Topology.of(edges, 4)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_edges_between_two_types_are_no_network_of_one():
    with pytest.raises(ConfigError, match="edge_index"):
        Network.one(Topology.of(EDGES, (4, 3)))
