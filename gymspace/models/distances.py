"""Lengths of the shortest paths between all nodes of each graph."""

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from gymspace.graph.graph import Graph
from gymspace.models.padded import Layout


def shortest_paths(graph: Graph, layout: Layout) -> Tensor:
    """Edges on the shortest path from each node to all nodes of its graph, kept with the edges.

    [N, size] int16: column j is node j of the same graph, -1 where there is no path or no node.
    """
    return graph.links.prepared("shortest_paths", lambda: _count(graph.links.index, layout))


def _count(index: Tensor, layout: Layout) -> Tensor:
    source, target = index.cpu().numpy()
    nodes = int(layout.counts.sum())
    matrix = coo_array((np.ones(source.size), (source, target)), shape=(nodes, nodes)).tocsr()
    found = np.full((nodes, layout.size), -1, dtype=np.int16)
    start = 0
    for count in layout.counts.tolist():
        own = slice(start, start + count)
        lengths = shortest_path(matrix[own, own], method="D", unweighted=True)
        found[own, :count] = np.where(np.isfinite(lengths), lengths, -1)
        start += count
    return torch.from_numpy(found).to(index.device)
