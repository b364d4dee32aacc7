"""Many small generated graphs, each with a class measured on its structure, as in GraphGym."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import networkx as nx
import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole
from gymspace.graph.generated import FEATURES, as_data, choose, equal_frequency

Whole = Callable[[nx.Graph], float]


def average_clustering(graph: nx.Graph) -> float:
    """Mean over the nodes of the share of linked pairs among their neighbours."""
    return nx.average_clustering(graph)


def average_path_length(graph: nx.Graph) -> float:
    """Mean length of the shortest paths between all pairs of nodes that have one."""
    lengths = shortest_path(nx.to_scipy_sparse_array(graph), unweighted=True)
    found = lengths[np.isfinite(lengths) & (lengths > 0)]
    return float(found.mean()) if found.size else 0.0


LABELS: Mapping[str, Whole] = MappingProxyType(
    {"clustering": average_clustering, "path_length": average_path_length}
)


def small_worlds(
    graphs: int = 300,
    nodes: int = 64,
    label: str = "path_length",
    feature: str = "clustering",
    bins: int = 10,
    seed: int = 0,
) -> list[Data]:
    """Ring lattices with rewired edges (Watts & Strogatz 1998), each with one class.

    Each graph draws an even number of neighbours from 4 to 16 and, evenly on a logarithmic scale,
    a share of rewired edges from 0.01 to 1. ``label`` is cut into ``bins`` classes of equally many
    graphs; ``feature`` is measured on each node. ``seed`` is the dataset's own, so every repeat of
    a sweep sees the same graphs. Each has x [nodes, 1], or [nodes, nodes] for one-hot, and y [1].

    Raises:
        ConfigError: unknown label or feature, impossible sizes, a label that is equal everywhere.
    """
    whole("dataset.nodes", nodes, 5)
    draws = _draws(seed)

    def draw() -> nx.Graph:
        neighbors = 2 * int(draws.integers(2, min(8, (nodes - 1) // 2) + 1))
        rewired = float(10 ** draws.uniform(-2, 0))
        return nx.watts_strogatz_graph(nodes, neighbors, rewired, seed=int(draws.integers(2**31)))

    return _labelled(draw, graphs, label, feature, bins)


def scale_frees(
    graphs: int = 300,
    nodes: int = 64,
    label: str = "path_length",
    feature: str = "clustering",
    bins: int = 10,
    seed: int = 0,
) -> list[Data]:
    """Preferential-attachment graphs that close triangles (Holme & Kim 2002), each with one class.

    Each graph draws from 2 to 12 edges for each new node, and with which chance an edge closes a
    triangle. The arguments, shapes and errors are as in `small_worlds`.
    """
    whole("dataset.nodes", nodes, 4)
    draws = _draws(seed)

    def draw() -> nx.Graph:
        edges, closing = int(draws.integers(2, min(12, nodes - 1) + 1)), float(draws.uniform())
        return nx.powerlaw_cluster_graph(nodes, edges, closing, seed=int(draws.integers(2**31)))

    return _labelled(draw, graphs, label, feature, bins)


def _draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(whole("dataset.seed", seed, 0))


def _labelled(
    draw: Callable[[], nx.Graph], graphs: int, label: str, feature: str, bins: int
) -> list[Data]:
    measure = choose("dataset.label", LABELS, label)
    of_nodes = choose("dataset.feature", FEATURES, feature)
    whole("dataset.bins", bins, 2)
    drawn = [draw() for _ in range(whole("dataset.graphs", graphs, 2))]
    values = np.array([measure(graph) for graph in drawn])
    y = torch.from_numpy(equal_frequency(values, bins)).long()
    if y.max() == 0:
        raise ConfigError("dataset.label", "gives all graphs the same class", value=label)
    return [as_data(graph, of_nodes(graph), y[i : i + 1]) for i, graph in enumerate(drawn)]
