"""The immutable graph that every block takes and returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from gymspace.graph.adjacency import Adjacency, Sparse, prepare

EdgeType = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of one type: features ``x`` [N, F], and in a batch of graphs the graph of each node.

    ``sparse`` holds the same features where most of them are zero.
    """

    x: Tensor
    batch: Tensor | None = None
    sparse: Sparse | None = None

    def project(self, weight: Tensor) -> Tensor:
        """Features times ``weight`` [F, D], by way of the sparse ones where they are there."""
        return (self.x if self.sparse is None else self.sparse) @ weight


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of one type: ``index`` [2, E] (source, target), features [E, D], weights [E]."""

    index: Tensor
    attr: Tensor | None = None
    weight: Tensor | None = None
    _prepared: dict[tuple[str, int, torch.dtype], Adjacency] = field(
        default_factory=dict, repr=False
    )

    def adj(self, kind: str, nodes: int, dtype: torch.dtype) -> Adjacency:
        """The adjacency of ``kind`` in ``dtype``, prepared at the first call and kept."""
        key = (kind, nodes, dtype)
        if key not in self._prepared:
            ones = torch.ones(self.index.size(1), dtype=dtype, device=self.index.device)
            weight = ones if self.weight is None else self.weight.to(dtype)
            self._prepared[key] = prepare(kind, self.index, weight, nodes)
        return self._prepared[key]


@dataclass(frozen=True, eq=False)
class Graph:
    """Typed node and edge stores; with one type of each, `x`, `links` and `adj` speak of it."""

    nodes: Mapping[str, Nodes]
    edges: Mapping[EdgeType, Edges]

    @classmethod
    def of(
        cls,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> "Graph":
        """A graph with one type of nodes and one of edges."""
        edges = Edges(edge_index, edge_attr, edge_weight)
        return cls({"node": Nodes(x)}, {("node", "to", "node"): edges})

    def with_sparse_x(self) -> "Graph":
        """The same graph, ready for fast products with features that are mostly zero."""
        ((name, store),) = self.nodes.items()
        index = store.x.nonzero().T
        sparse = Sparse.of(index, store.x[index[0], index[1]], (store.x.size(0), store.x.size(1)))
        return Graph({name: replace(store, sparse=sparse)}, self.edges)

    @property
    def x(self) -> Tensor:
        """Features [N, F] of the only node type."""
        (store,) = self.nodes.values()
        return store.x

    @property
    def links(self) -> Edges:
        """The only edge type."""
        (store,) = self.edges.values()
        return store

    def with_x(self, x: Tensor) -> "Graph":
        """The same graph with other features on its only node type."""
        ((name, store),) = self.nodes.items()
        return Graph({name: Nodes(x, store.batch)}, self.edges)

    def project(self, weight: Tensor) -> Tensor:
        """Features times ``weight`` [F, D] of the only node type."""
        (store,) = self.nodes.values()
        return store.project(weight)

    def adj(self, kind: str) -> Adjacency:
        """The adjacency of ``kind`` (see `gymspace.graph.adjacency`) of the only edge type."""
        return self.links.adj(kind, self.x.size(0), self.x.dtype)

    def view(self, hop: int) -> "Graph":
        """What block ``hop`` of a stage may see: all of it, where nothing was sampled."""
        return self
