"""Random regular graphs: few edges, and yet every node is near every other."""

import random
from functools import lru_cache

import networkx as nx
import numpy as np
import torch
from torch import Tensor


@lru_cache(maxsize=1024)
def expander(nodes: int, degree: int, seed: int) -> Tensor:
    """A connected random graph in which all nodes have ``degree``: [2, nodes * degree] int64.

    Both directions of each edge are there, sorted; no edge is there twice and none is a loop.
    The complete graph where that has no higher degree. The same arguments give the same graph.
    ``degree`` is even and 4 or more, so that it fits every number of nodes.
    """
    if degree >= nodes - 1:
        return _directed(nx.complete_graph(nodes))
    draws = random.Random(f"{nodes} {degree} {seed}")
    while True:
        drawn = _regular(nodes, degree, draws)
        if nx.is_connected(drawn):
            return _directed(drawn)


def _regular(nodes: int, degree: int, draws: random.Random) -> nx.Graph:
    """A random regular graph, by what it lacks where it has most edges: that is drawn faster."""
    if degree <= nodes // 2:
        return nx.random_regular_graph(degree, nodes, seed=draws)
    return nx.complement(nx.random_regular_graph(nodes - 1 - degree, nodes, seed=draws))


def _directed(graph: nx.Graph) -> Tensor:
    edges = np.array(list(graph.edges), dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([edges, edges[:, ::-1]])
    return torch.from_numpy(both[np.lexsort((both[:, 1], both[:, 0]))].T.copy())
