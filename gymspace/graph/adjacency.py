"""Sparse matrices prepared once: adjacencies of several kinds, and their products."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_remaining_self_loops


@dataclass(frozen=True, eq=False)
class Sparse:
    """A constant sparse matrix in CSR form, with its transpose at hand for the backward pass.

    ``turn`` [K] says which of the matrix's values is which of the transpose's.
    """

    matrix: Tensor
    transpose: Tensor
    turn: Tensor

    @classmethod
    def of(cls, index: Tensor, values: Tensor, size: tuple[int, int]) -> "Sparse":
        """From ``index`` [2, K] (row, column) and ``values`` [K]; repeated entries are added."""
        place, order = torch.sort(index[0] * size[1] + index[1], stable=True)
        place, entry = torch.unique_consecutive(place, return_inverse=True)
        merged = values.new_zeros(place.numel()).index_add_(0, entry, values[order])
        row, column = place // size[1], place % size[1]
        turn = torch.argsort(column, stable=True)
        matrix = _csr(row, column, merged, size)
        return cls(matrix, _csr(column[turn], row[turn], merged[turn], size[::-1]), turn)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """[n, m] @ [m, F] -> [n, F]."""
        return _Product.apply(dense, self.matrix, self.transpose)

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def dtype(self) -> torch.dtype:
        """Type of the values."""
        return self.matrix.dtype

    def dropout(self, p: float) -> "Sparse":
        """Every value zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
        values = functional.dropout(self.matrix.values(), p)
        matrix, transpose = _filled(self.matrix, values), _filled(self.transpose, values[self.turn])
        return Sparse(matrix, transpose, self.turn)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Weighted edges: ``index`` [2, E] (source, target), ``weight`` [E], ``nodes`` at both ends."""

    index: Tensor
    weight: Tensor
    nodes: int

    def __matmul__(self, x: Tensor) -> Tensor:
        """Sum of the weighted in-neighbours: [N, F] -> [N, F]."""
        return self._inflow @ x

    @cached_property
    def _inflow(self) -> Sparse:
        return Sparse.of(self.index.flip(0), self.weight, (self.nodes, self.nodes))


class _Product(torch.autograd.Function):
    """Sparse times dense; autograd's own would build the transpose anew in each step."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose @ grad.contiguous(), None, None


def _csr(row: Tensor, column: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """From entries that are sorted by row, then by column, each there once."""
    start = torch.zeros(size[0] + 1, dtype=torch.int64, device=row.device)
    torch.cumsum(torch.bincount(row, minlength=size[0]), 0, out=start[1:])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(start, column, values, size, check_invariants=True)


def _filled(matrix: Tensor, values: Tensor) -> Tensor:
    start, column = matrix.crow_indices(), matrix.col_indices()
    return torch.sparse_csr_tensor(start, column, values, matrix.shape, check_invariants=False)


Prepare = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


def _sum(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return index, weight


def _mean(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    count = torch.bincount(index[1], minlength=nodes)
    return index, weight / count[index[1]]


def _gcn(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return gcn_norm(index, weight, nodes)


def _symmetric(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return gcn_norm(index, weight, nodes, add_self_loops=False)


def _loops(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return add_remaining_self_loops(index, weight, 1.0, nodes)


KINDS: Mapping[str, Prepare] = MappingProxyType(
    {"sum": _sum, "mean": _mean, "gcn": _gcn, "symmetric": _symmetric, "loops": _loops}
)


def prepare(kind: str, index: Tensor, weight: Tensor, nodes: int) -> Adjacency:
    """The adjacency of ``kind``: sum, mean of in-neighbours, gcn, symmetric, loops.

    gcn is that of Kipf & Welling 2017, symmetric the same without self loops added: its edges are
    the graph's own, in their order.
    """
    return Adjacency(*KINDS[kind](index, weight, nodes), nodes)
