"""Sparse matrices prepared once: adjacencies of several kinds, and their products."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_remaining_self_loops


@dataclass(frozen=True, eq=False)
class Sparse:
    """A constant sparse matrix in CSR form, with its transpose at hand for the backward pass."""

    matrix: Tensor
    transpose: Tensor

    @classmethod
    def of(cls, index: Tensor, values: Tensor, size: tuple[int, int]) -> "Sparse":
        """From ``index`` [2, K] (row, column) and ``values`` [K]; repeated entries are added."""
        return cls(_csr(index, values, size), _csr(index.flip(0), values, size[::-1]))

    def __matmul__(self, dense: Tensor) -> Tensor:
        """[n, m] @ [m, F] -> [n, F]."""
        return _Product.apply(dense, self.matrix, self.transpose)


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


def _csr(index: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    place, order = torch.sort(index[0] * size[1] + index[1], stable=True)
    place, entry = torch.unique_consecutive(place, return_inverse=True)
    merged = values.new_zeros(place.numel()).index_add_(0, entry, values[order])
    row, column = place // size[1], place % size[1]
    start = torch.zeros(size[0] + 1, dtype=torch.int64, device=index.device)
    torch.cumsum(torch.bincount(row, minlength=size[0]), 0, out=start[1:])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(start, column, merged, size, check_invariants=True)


Prepare = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


def _sum(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return index, weight


def _mean(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    count = torch.bincount(index[1], minlength=nodes)
    return index, weight / count[index[1]]


def _gcn(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return gcn_norm(index, weight, nodes)


def _loops(index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    return add_remaining_self_loops(index, weight, 1.0, nodes)


KINDS: Mapping[str, Prepare] = MappingProxyType(
    {"sum": _sum, "mean": _mean, "gcn": _gcn, "loops": _loops}
)


def prepare(kind: str, index: Tensor, weight: Tensor, nodes: int) -> Adjacency:
    """The adjacency of ``kind``: sum, mean of in-neighbours, gcn (Kipf & Welling 2017), loops."""
    return Adjacency(*KINDS[kind](index, weight, nodes), nodes)
