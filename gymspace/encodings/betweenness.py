"""Betweenness centrality of many sources at once, by sparse products."""

import numpy as np
from scipy.sparse import csr_array

from gymspace.encodings.blocks import blocks


def betweenness(matrix: csr_array, sources: np.ndarray, what: str) -> np.ndarray:
    """[nodes] share of the shortest paths between other nodes that pass each (Brandes 2001).

    As networkx's, but level by level for a block of ``sources`` at once; if these are not all
    nodes, their paths are scaled up. ``matrix`` is a symmetric adjacency without self loops.
    """
    nodes = matrix.shape[0]
    total = np.zeros(nodes)
    for block in blocks(what, sources, nodes):
        level, paths = _spread(matrix, block)
        credit = np.zeros_like(paths)
        for depth in range(level.max(), 0, -1):
            there = level == depth
            share = np.divide(1.0 + credit, paths, out=np.zeros_like(paths), where=there)
            credit += np.where(level == depth - 1, paths * (matrix @ share), 0.0)
        credit[block, np.arange(len(block))] = 0.0
        total += credit.sum(axis=1)
    pairs = (nodes - 1) * (nodes - 2)
    return total * nodes / (len(sources) * pairs) if pairs > 0 else total


def _spread(matrix: csr_array, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance (-1 if there is no path) and number of shortest paths from each of ``block``."""
    shape = (matrix.shape[0], len(block))
    level, paths = np.full(shape, -1, dtype=np.int32), np.zeros(shape)
    ahead, depth = np.zeros(shape), 0
    ahead[block, np.arange(len(block))] = 1.0
    while ahead.any():
        level[ahead > 0] = depth
        paths += ahead
        ahead = np.where(level < 0, matrix @ ahead, 0.0)
        depth += 1
    return level, paths
