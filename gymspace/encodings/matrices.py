"""Sparse matrices of a graph's edges, for what is computed of them."""

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor


def adjacency(edge_index: Tensor, nodes: int) -> csr_array:
    """[source, target] is 1 where there is an edge, self loops included, however often it stands.

    float64 [nodes, nodes].
    """
    source, target = edge_index.numpy()
    matrix = csr_array((np.ones(source.size), (source, target)), shape=(nodes, nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def undirected(edge_index: Tensor, nodes: int) -> csr_array:
    """The simple graph: an edge both ways where there is one either way, and no self loops."""
    matrix = adjacency(edge_index, nodes)
    matrix = csr_array(matrix.maximum(matrix.T))
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def symmetric_walk(matrix: csr_array) -> csr_array:
    """D^-1/2 A D^-1/2 of a symmetric matrix; rows without entries stay so."""
    degree = matrix.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return csr_array(diags_array(scale) @ matrix @ diags_array(scale))


def random_walk(matrix: csr_array) -> csr_array:
    """D^-1 A: where a walker on a row's node goes next; rows without entries stay so."""
    degree = matrix.sum(axis=1)
    scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return csr_array(diags_array(scale) @ matrix)


def is_symmetric(matrix: csr_array) -> bool:
    """Whether the matrix is its own transpose."""
    return (matrix != matrix.T).nnz == 0


def components(matrix: csr_array) -> list[np.ndarray]:
    """The nodes of each connected component, ascending."""
    _, label = connected_components(matrix, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label))[:-1]) if len(label) else []
