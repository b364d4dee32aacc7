"""Graphs whose spectra, walks and ranks are known by formula, and encodings computed of them."""

from typing import Any

import networkx
import torch
from torch import Tensor

from gymspace.encodings.base import Encoding, Tensors
from gymspace.encodings.cache import make, prepare
from gymspace.graph.graph import Graph
from gymspace.schema import Component
from gymspace.tables import ENCODINGS
from tests.graph.toys import INDICES

NAMES = sorted(ENCODINGS)


def both_ways(pairs: list[tuple[int, int]]) -> Tensor:
    index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    return torch.cat([index, index.flip(0)], dim=1)


def path(nodes: int) -> Tensor:
    return both_ways([(i, i + 1) for i in range(nodes - 1)])


def ring(nodes: int) -> Tensor:
    return both_ways([(i, (i + 1) % nodes) for i in range(nodes)])


def star(leaves: int) -> Tensor:
    """Node 0 in the middle."""
    return both_ways([(0, i + 1) for i in range(leaves)])


def beside(first: Tensor, nodes: int, second: Tensor) -> Tensor:
    """Two graphs as one, the first of which has ``nodes`` nodes."""
    return torch.cat([first, second + nodes], dim=1)


def wild(nodes: int = 30, links: float = 0.1, seed: int = 0) -> tuple[networkx.Graph, Tensor]:
    """A random graph of several components, as networkx and as edges both ways."""
    graph = networkx.gnp_random_graph(nodes, links, seed=seed)
    assert not networkx.is_connected(graph)
    return graph, both_ways(list(graph.edges))


# Directed, with self loops, parallel edges, isolated nodes, several components, edgeless.
GRAPHS = {
    **{name: (index, 6) for name, index in INDICES.items()},
    "two": (beside(ring(5), 5, path(4)), 9),
    "one": (torch.empty(2, 0, dtype=torch.int64), 1),
    "looped": (torch.tensor([[0], [0]]), 2),
}


def component(name: str, **args: Any) -> Component:
    return Component.model_validate({"name": name, **args})


def tensors(name: str, index: Tensor, nodes: int, **args: Any) -> Tensors:
    return prepare([component(name, **args)], index, nodes)


def built(name: str, nodes: int, seed: int = 0, **args: Any) -> Encoding:
    torch.manual_seed(seed)
    return make(component(name, **args), nodes).double()


def carrying(name: str, index: Tensor, nodes: int, **args: Any) -> Graph:
    graph = Graph.of(torch.ones(nodes, 1, dtype=torch.float64), index)
    return graph.with_encodings(tensors(name, index, nodes, **args))
