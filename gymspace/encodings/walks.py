"""Closed walks: diagonals of the powers of a sparse matrix, exact and without the powers."""

import numpy as np
from scipy.sparse import csr_array

from gymspace.encodings.blocks import blocks


def diagonals(matrix: csr_array, steps: int, symmetric: bool, what: str) -> np.ndarray:
    """[nodes, steps]: column s is the diagonal of ``matrix`` to the power of s + 1.

    Unit vectors are multiplied in blocks, which takes nodes x edges x steps, where the powers
    themselves would soon be dense. Of a symmetric matrix half the products suffice: its power
    a + b has the diagonal entry <M^a e, M^b e>.
    """
    nodes = matrix.shape[0]
    found = np.zeros((nodes, steps))
    for rows in blocks(what, np.arange(nodes), nodes):
        columns = np.arange(len(rows))
        walk = np.zeros((nodes, len(rows)))
        walk[rows, columns] = 1.0
        for step in range(0, steps, 2 if symmetric else 1):
            ahead = matrix @ walk
            if symmetric:
                found[rows, step] = np.einsum("ij,ij->j", ahead, walk)
                if step + 1 < steps:
                    found[rows, step + 1] = np.einsum("ij,ij->j", ahead, ahead)
            else:
                found[rows, step] = ahead[rows, columns]
            walk = ahead
    return found
