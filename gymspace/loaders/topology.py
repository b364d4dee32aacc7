"""A graph in columns: who leads into each node, in 32 bits where they suffice."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.graph.graph import EdgeType

Array = np.ndarray
Given = Tensor | np.ndarray


@dataclass(frozen=True, eq=False)
class Topology:
    """Edges of one type by their targets (CSC).

    The edges into node v are ``source[start[v] : start[v + 1]]``, in the given order. ``order`` [E]
    has the place of each in the given list; None if it is the same.
    """

    start: Array
    source: Array
    sources: int
    order: Array | None = None

    @classmethod
    def of(cls, edge_index: Given, nodes: int | tuple[int, int]) -> "Topology":
        """From ``edge_index`` [2, E] (source, target) of ``nodes``, or (sources, targets), nodes.

        Raises ConfigError for an edge list that cannot be one of these nodes.
        """
        sources, targets = (nodes, nodes) if isinstance(nodes, int) else nodes
        index = _edges(edge_index, sources, targets)
        start: Array = np.zeros(targets + 1, _dtype(index.shape[1]))
        np.cumsum(np.bincount(index[1], minlength=targets), out=start[1:])
        order = _order(index[1], targets)
        source = index[0] if order is None else index[0, order]
        return cls(start, np.ascontiguousarray(source, _dtype(sources)), sources, order)

    @property
    def targets(self) -> int:
        """Number of nodes that edges may lead into."""
        return self.start.size - 1

    def places(self, edge: Tensor) -> Tensor:
        """Places in the given edge list of ``edge`` [E'], which counts in columns."""
        return edge if self.order is None else torch.from_numpy(self.order)[edge]


@dataclass(frozen=True, eq=False)
class Network:
    """``nodes`` of each type, and the edges of each type between them."""

    nodes: Mapping[str, int]
    links: Mapping[EdgeType, Topology]

    @classmethod
    def one(cls, topology: Topology) -> "Network":
        """With one type of nodes and one of edges."""
        if topology.sources != topology.targets:
            raise ConfigError("edge_index", "leads from nodes of one type to those of another")
        return cls({"node": topology.sources}, {("node", "to", "node"): topology})


def _edges(given: Given, sources: int, targets: int) -> Array:
    index = np.asarray(given)
    if index.ndim != 2 or index.shape[0] != 2:
        raise ConfigError("edge_index", f"has shape {list(index.shape)}, not [2, edges]")
    if index.dtype.kind not in "iu":
        raise ConfigError("edge_index", f"holds {index.dtype}, not integers")
    for name, row, count in zip(("source", "target"), index, (sources, targets), strict=True):
        if row.size and (row.min() < 0 or row.max() >= count):
            bad = row.min() if row.min() < 0 else row.max()
            raise ConfigError("edge_index", f"has {name} {bad}, and there are {count} nodes")
    return index


def _order(target: Array, targets: int) -> Array | None:
    """Places of the edges by target; None if they are in that order already."""
    if (target[1:] >= target[:-1]).all():
        return None
    return np.argsort(target.astype(_dtype(targets), copy=False), kind="stable")


def _dtype(count: int) -> type:
    return np.int32 if count < np.iinfo(np.int32).max else np.int64
