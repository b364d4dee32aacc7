"""Norms: what they share with PyG's and torch's, and how those that go by graph learn of it."""

import inspect

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from gymspace.encodings.base import RowNorm


class Chain(nn.Sequential):
    """Modules on node features [N, F], one after the other.

    Those whose ``forward`` names ``batch`` are told the graph of each node, the others are not.
    """

    def __init__(self, *parts: nn.Module):
        super().__init__(*parts)
        self._told = tuple(by_graph(part) for part in self)

    def forward(self, x: Tensor, batch: Tensor | None = None) -> Tensor:
        for part, told in zip(self, self._told, strict=True):
            x = part(x, batch=batch) if told else part(x)
        return x


class Batch(RowNorm):
    """BatchNorm: each feature by its mean and spread over all rows.

    A row that is alone in training is normed by the statistics gathered so far.
    """


class Graph(pyg.GraphNorm):
    """GraphNorm (Cai et al. 2021): each feature by its mean and spread over the node's graph.

    How much of the mean is taken away is learnt.
    """

    __repr__ = nn.Module.__repr__  # PyG's hide arguments, by which designs are told apart

    def __init__(self, dim: int, eps: float = 1e-5):
        super().__init__(dim, eps=eps)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, eps={self.eps}"


class Pair(pyg.PairNorm):
    """PairNorm (Zhao & Akoglu 2020): a graph's nodes keep their mean squared distance.

    It learns nothing. ``scale_individually`` gives every node the length ``scale``.
    """

    __repr__ = nn.Module.__repr__

    def __init__(
        self, dim: int, scale: float = 1.0, scale_individually: bool = False, eps: float = 1e-5
    ):
        super().__init__(scale, scale_individually, eps)

    def extra_repr(self) -> str:
        return f"{self.scale}, individually={self.scale_individually}, eps={self.eps}"


class Instance(pyg.InstanceNorm):
    """InstanceNorm (Ulyanov et al. 2016): each feature by its mean and spread over the graph.

    The spread is that of the graph at hand in evaluation too. Unlike in PyG, scale and shift are
    learnt unless ``affine`` is false, and a graph may have a single node in training.
    """

    __repr__ = nn.Module.__repr__

    def __init__(self, dim: int, eps: float = 1e-5, affine: bool = True):
        super().__init__(dim, eps=eps, affine=affine)

    def forward(self, x: Tensor, batch: Tensor | None = None) -> Tensor:
        one = x.new_zeros(x.size(0), dtype=torch.int64)
        return super().forward(x, one if batch is None else batch)


def by_graph(norm: nn.Module) -> bool:
    """Whether ``norm`` norms each graph by itself, so that it needs a graph of several rows."""
    return "batch" in inspect.signature(norm.forward).parameters


class NoNorm(nn.Identity):
    """The norm that is none."""

    def __init__(self, dim: int):
        super().__init__()
