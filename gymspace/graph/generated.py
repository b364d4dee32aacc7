"""Generated graphs whose labels and features are measured on the graph itself, as in GraphGym."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import networkx as nx
import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import fraction, whole

Measure = Callable[[nx.Graph], np.ndarray]
M = TypeVar("M")
ROWS = 1024


def clustering(graph: nx.Graph) -> np.ndarray:
    """Share of the pairs of a node's neighbours that are neighbours themselves, [N]."""
    return _in_order(graph, nx.clustering(graph))


def pagerank(graph: nx.Graph) -> np.ndarray:
    """PageRank (damping 0.85) times the number of nodes, so that its mean is 1, [N]."""
    ranks = nx.pagerank(graph, tol=1e-12, max_iter=1000)
    return _in_order(graph, ranks) * graph.number_of_nodes()


def degree(graph: nx.Graph) -> np.ndarray:
    """Number of neighbours, [N]."""
    return _in_order(graph, dict(graph.degree()))


def path_length(graph: nx.Graph) -> np.ndarray:
    """Mean length of the shortest paths to the other nodes that a node reaches, [N]; 0 if none."""
    adjacency, mean = nx.to_scipy_sparse_array(graph), np.zeros(len(graph))
    for start in range(0, len(graph), ROWS):  # lengths to all nodes, of so many at a time
        part = np.arange(start, min(start + ROWS, len(graph)))
        lengths = shortest_path(adjacency, unweighted=True, indices=part)
        found = np.isfinite(lengths) & (lengths > 0)
        mean[part] = np.where(found, lengths, 0.0).sum(1) / np.maximum(found.sum(1), 1)
    return mean


def constant(graph: nx.Graph) -> np.ndarray:
    """1 for each node, [N]."""
    return np.ones(graph.number_of_nodes())


def onehot(graph: nx.Graph) -> np.ndarray:
    """The node's number, one-hot, [N, N]."""
    return np.eye(graph.number_of_nodes())


LABELS: Mapping[str, Measure] = MappingProxyType(
    {"clustering": clustering, "pagerank": pagerank, "degree": degree, "path_length": path_length}
)
FEATURES: Mapping[str, Measure] = MappingProxyType(
    {"constant": constant, "onehot": onehot, **LABELS}
)


def scale_free(
    nodes: int = 1000,
    edges: int = 4,
    label: str = "clustering",
    feature: str = "constant",
    bins: int = 10,
    seed: int = 0,
) -> Data:
    """A preferential-attachment graph (Barabasi & Albert 1999); each new node brings ``edges``.

    ``seed`` is the graph's own: every repeat of a sweep sees the same graph. ``label`` is cut into
    classes by `equal_frequency`. Shapes: x [N, 1], or [N, N] for one-hot; y int64 [N].

    Raises:
        ConfigError: unknown label or feature, impossible sizes, a label that is equal everywhere.
    """
    whole("dataset.nodes", nodes, 2)
    whole("dataset.edges", edges, 1, nodes - 1)
    graph = nx.barabasi_albert_graph(nodes, edges, seed=whole("dataset.seed", seed, 0))
    return _task(graph, label, feature, bins)


def small_world(
    nodes: int = 1000,
    neighbors: int = 8,
    rewire: float = 0.1,
    label: str = "clustering",
    feature: str = "constant",
    bins: int = 10,
    seed: int = 0,
) -> Data:
    """A ring lattice with rewired edges (Watts & Strogatz 1998).

    Each node starts with its ``neighbors`` (an even number) nearest, each edge is rewired with the
    probability ``rewire``. The other arguments, shapes and errors are as in `scale_free`.
    """
    whole("dataset.nodes", nodes, 3)
    if whole("dataset.neighbors", neighbors, 2, nodes - 1) % 2:
        raise ConfigError("dataset.neighbors", "must be even, half on each side", value=neighbors)
    chance = fraction("dataset.rewire", rewire)
    seed = whole("dataset.seed", seed, 0)
    return _task(nx.watts_strogatz_graph(nodes, neighbors, chance, seed=seed), label, feature, bins)


def equal_frequency(values: np.ndarray, bins: int) -> np.ndarray:
    """Class ids [N] of about equally many nodes each, 0 for the smallest values.

    Equal values share a class, that of their first in ascending order: with s smaller values among
    N it is floor(bins * s / N). Classes that stay empty are dropped, so there may be fewer than
    ``bins``. Values are compared to 9 decimals, below which only rounding tells them apart.
    """
    _, which, counts = np.unique(values.round(9), return_inverse=True, return_counts=True)
    smaller = np.concatenate([[0], counts.cumsum()[:-1]])
    return np.unique(bins * smaller // counts.sum(), return_inverse=True)[1][which]


def as_data(graph: nx.Graph, x: np.ndarray, y: torch.Tensor) -> Data:
    """The graph with features ``x`` [N] or [N, F] and labels ``y``, its edges both ways, sorted."""
    adjacency = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), format="coo")
    edges = np.stack([adjacency.row, adjacency.col])
    return Data(
        x=torch.from_numpy(x).float().reshape(len(graph), -1),
        edge_index=torch.from_numpy(edges[:, np.lexsort((edges[1], edges[0]))]).long(),
        y=y,
    )


def choose(key: str, table: Mapping[str, M], name: Any) -> M:
    """The measure of that name, or `ConfigError` for ``key``."""
    if name not in table:
        raise ConfigError(key, "unknown measure", value=name, choices=table)
    return table[name]


def _task(graph: nx.Graph, label: str, feature: str, bins: int) -> Data:
    x = choose("dataset.feature", FEATURES, feature)(graph)
    values = choose("dataset.label", LABELS, label)(graph)
    y = equal_frequency(values, whole("dataset.bins", bins, 2))
    if y.max() == 0:
        raise ConfigError("dataset.label", "gives all nodes the same class", value=label)
    return as_data(graph, x, torch.from_numpy(y).long())


def _in_order(graph: nx.Graph, by_node: Mapping[int, float]) -> np.ndarray:
    return np.array([by_node[node] for node in range(graph.number_of_nodes())], dtype=np.float64)
