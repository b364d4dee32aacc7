"""Nodes of many graphs as rows of one dense batch, and which of its places are filled."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gymspace.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Layout:
    """Where [N, ...] stands in [graphs, size, ...].

    ``counts`` [graphs] are the nodes of each graph, ``filled`` [graphs, size] says which places
    hold one. ``place`` [N] is None, and nothing is moved, where no place is empty.
    """

    counts: Tensor
    size: int
    filled: Tensor
    place: Tensor | None

    @classmethod
    def of(cls, graph: Graph) -> "Layout":
        """The layout of a batch of graphs; ids in ``graph.batch`` that no node has are left out."""
        if graph.batch is None:
            counts = torch.tensor([graph.x.size(0)], device=graph.x.device)
        else:
            counts = torch.unique_consecutive(graph.batch, return_counts=True)[1]
        return cls.from_counts(counts)

    @classmethod
    def from_counts(cls, counts: Tensor) -> "Layout":
        """The layout of graphs with so many nodes each."""
        size = int(counts.max()) if counts.numel() else 0
        filled = torch.arange(size, device=counts.device) < counts[:, None]
        full = int(counts.sum()) == filled.numel()
        return cls(counts, size, filled, None if full else filled.view(-1).nonzero().squeeze(1))

    @property
    def mask(self) -> Tensor | None:
        """``filled``, or None where that is everywhere."""
        return None if self.place is None else self.filled

    @property
    def graph_of(self) -> Tensor:
        """The graph of each node [N], counted without gaps."""
        graphs = torch.arange(self.counts.numel(), device=self.counts.device)
        return graphs.repeat_interleave(self.counts)

    @property
    def start(self) -> Tensor:
        """The first node of each graph [graphs]."""
        return self.counts.cumsum(0) - self.counts

    def pad(self, x: Tensor) -> Tensor:
        """[N, ...] -> [graphs, size, ...], zeros where there is no node."""
        shape = (self.counts.numel(), self.size, *x.shape[1:])
        if self.place is None:
            return x.reshape(shape)
        padded = x.new_zeros(self.filled.numel(), *x.shape[1:])
        return padded.index_copy(0, self.place, x).view(shape)

    def unpad(self, x: Tensor) -> Tensor:
        """[graphs, size, ...] -> [N, ...]."""
        flat = x.reshape(-1, *x.shape[2:])
        return flat if self.place is None else flat.index_select(0, self.place)
