"""What an encoding is, and the small networks that encodings share."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from gymspace.graph.graph import Graph

Tensors = dict[str, Tensor]


class Encoding(nn.Module):
    """Tensors computed once of a graph's edges, and the module that makes features of them.

    ``name`` is that of its main tensor in ``graph.encodings``; further ones are ``<name>.<part>``.
    ``version`` goes up when the same settings give other tensors. ``dim`` is the features' width.
    Where graphs have tensors of different widths, ``fill`` makes up the columns that are missing.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    stored: ClassVar[bool] = True  # whether reading the tensors is faster than computing them
    fill: ClassVar[float] = 0
    dim: int

    def settings(self) -> Mapping[str, Any]:
        """Those arguments that `compute` depends on."""
        return {}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        """Tensors [nodes, ...] of one graph, the same each time; ``edge_index`` is on the CPU."""
        raise NotImplementedError

    def finish(self, tensors: Tensors) -> Tensors:
        """What is kept of the tensors, once those of all graphs of a dataset are together."""
        return tensors

    def forward(self, graph: Graph) -> Tensor:
        """Features [N, dim] of the tensors in ``graph.encodings``."""
        raise NotImplementedError


class RowNorm(nn.BatchNorm1d):
    """BatchNorm that takes less than two rows in training: by the statistics it has gathered."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or input.size(0) > 1:
            return super().forward(input)
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )


class Mapped(Encoding):
    """A tensor [N, C] of real numbers: BatchNorm, then a linear map to ``dim``."""

    def __init__(self, columns: int, dim: int):
        super().__init__()
        self.dim = dim
        self.norm = RowNorm(columns)
        self.map = nn.Linear(columns, dim)

    def forward(self, graph: Graph) -> Tensor:
        return self.map(self.norm(graph.encodings[self.name]))


def mlp(*widths: int) -> nn.Sequential:
    """Linear maps from width to width, with ReLU between them."""
    parts: list[nn.Module] = []
    for narrow, wide in pairwise(widths):
        parts += [nn.Linear(narrow, wide), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def as_float(array: Any) -> Tensor:
    """A float64 tensor of a numpy array."""
    return torch.as_tensor(array, dtype=torch.float64)
