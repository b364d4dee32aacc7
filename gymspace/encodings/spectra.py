"""Eigenvectors of the normalised Laplacian, each connected component by itself."""

import logging
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from gymspace.encodings.matrices import components, symmetric_walk

log = logging.getLogger(__name__)

# Nodes of a component up to which all of its matrix is decomposed at once.
DENSE = 1000


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors [N, k], eigenvalues [N, k], which of them there are [N, k], component size [N].

    A row speaks of the node's own component: values ascend, what is missing is zero. Vectors have
    length one over the component.
    """

    vectors: np.ndarray
    values: np.ndarray
    there: np.ndarray
    size: np.ndarray


def lowest(matrix: csr_array, k: int) -> Spectrum:
    """The ``k`` lowest eigenpairs of I - D^-1/2 A D^-1/2 but the trivial one, by component.

    The trivial vector of a component is sqrt(degree), with eigenvalue 0. A component of n nodes
    has n - 1 others, so an isolated node has none. Of a vector and its negative the one is taken
    whose largest entry is positive. ``matrix`` is a symmetric adjacency without self loops.
    """
    nodes = matrix.shape[0]
    found = Spectrum(
        np.zeros((nodes, k)),
        np.zeros((nodes, k)),
        np.zeros((nodes, k), dtype=bool),
        np.ones(nodes),
    )
    for own in components(matrix):
        count = min(k, len(own) - 1)
        found.size[own] = len(own)
        if count:
            values, vectors = _pairs(symmetric_walk(matrix[own][:, own]), count)
            found.vectors[own, :count] = vectors
            found.values[own, :count] = values
            found.there[own, :count] = True
    return found


def _pairs(walk: csr_array, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs 1 .. ``count`` of I - ``walk``, which belongs to a connected graph."""
    nodes = walk.shape[0]
    if nodes <= DENSE or count + 1 >= nodes // 2:
        values, vectors = eigh(
            np.eye(nodes) - walk.toarray(), subset_by_index=(1, count), driver="evr"
        )
    else:
        values, vectors = _lanczos(walk, count + 1)
        order = np.argsort(values, kind="stable")[1:]
        values, vectors = values[order], vectors[:, order]
    return np.clip(values, 0.0, 2.0), vectors * _signs(vectors)


def _lanczos(walk: csr_array, count: int) -> tuple[np.ndarray, np.ndarray]:
    nodes = walk.shape[0]
    log.info("eigenvectors of a component of %d nodes", nodes)
    start = np.random.default_rng(0).standard_normal(nodes)
    wide = min(nodes - 1, max(4 * count, 60))
    try:
        # The top of a spectrum converges by products alone, which a random graph needs: its
        # factors would be dense.
        values, vectors = eigsh(walk, count, which="LA", v0=start, ncv=wide, maxiter=50)
        return 1.0 - values, vectors
    except ArpackNoConvergence:
        # Long and thin, like a path: eigenvalues are close together and factors are sparse.
        laplacian = (eye_array(nodes) - walk).tocsc()
        return eigsh(laplacian, count, sigma=-1e-3, which="LM", v0=start)


def _signs(vectors: np.ndarray) -> np.ndarray:
    size = np.abs(vectors)
    # The first of those that are the largest but for rounding.
    first = np.argmax(size > size.max(axis=0) * (1 - 1e-6), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
