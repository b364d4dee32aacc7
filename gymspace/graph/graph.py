"""The immutable graph that every block takes and returns."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from gymspace.graph.adjacency import Adjacency, Sparse, prepare

EdgeType = tuple[str, str, str]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of one type: ``features`` [N, F], sparse where most of them are zero.

    In a batch of graphs, ``batch`` [N] has the graph of each node, ascending; None is one graph.
    ``encodings`` are precomputed tensors [N, ...] by name, for the encoders that turn them into
    features and for attention.
    """

    features: Tensor | Sparse
    batch: Tensor | None = None
    encodings: Mapping[str, Tensor] = field(default_factory=dict)

    @cached_property
    def x(self) -> Tensor:
        """Features [N, F], dense."""
        return (
            self.features.matrix.to_dense() if isinstance(self.features, Sparse) else self.features
        )

    def first(self, count: int) -> "Nodes":
        """The first ``count`` nodes, with dense features."""
        if count >= self.features.shape[0]:
            return self
        batch = None if self.batch is None else self.batch[:count]
        encodings = {name: tensor[:count] for name, tensor in self.encodings.items()}
        return replace(self, features=self.x[:count], batch=batch, encodings=encodings)

    def dropout(self, p: float) -> "Nodes":
        """The same nodes with features dropped at random, sparse ones as such."""
        if isinstance(self.features, Sparse):
            return replace(self, features=self.features.dropout(p))
        return replace(self, features=functional.dropout(self.features, p))


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of one type: ``index`` [2, E] (source, target), features [E, D], weights [E]."""

    index: Tensor
    attr: Tensor | None = None
    weight: Tensor | None = None
    _prepared: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def prepared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` makes of index and weight at the first call, kept under ``key``."""
        if key not in self._prepared:
            self._prepared[key] = make()
        return self._prepared[key]

    def first(self, count: int) -> "Edges":
        """The first ``count`` edges."""
        if count >= self.index.size(1):
            return self
        attr = None if self.attr is None else self.attr[:count]
        weight = None if self.weight is None else self.weight[:count]
        return Edges(self.index[:, :count], attr, weight)

    def adj(self, kind: str, nodes: int, dtype: torch.dtype) -> Adjacency:
        """The adjacency of ``kind`` in ``dtype``, prepared at the first call and kept."""

        def make() -> Adjacency:
            ones = torch.ones(self.index.size(1), dtype=dtype, device=self.index.device)
            weight = ones if self.weight is None else self.weight.to(dtype)
            return prepare(kind, self.index, weight, nodes)

        return self.prepared((kind, nodes, dtype), make)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of nodes to be scored, as row numbers of x; the three broadcast to the scores' shape.

    One pair a row is ``source`` [R] and ``target`` [R]; queries with candidates are [Q, 1] and
    [Q, C], or [1, C] where all have the same. ``relation`` has ids where there are several kinds.
    """

    source: Tensor
    target: Tensor
    relation: Tensor | None = None

    @property
    def shape(self) -> torch.Size:
        """Shape of the scores: [R], or [Q, C]."""
        given = (self.source, self.target, self.relation)
        return torch.broadcast_shapes(*(part.shape for part in given if part is not None))


@dataclass(frozen=True)
class Hops:
    """How a sampled graph is ordered: ``nodes`` [K + 1] and ``edges`` [K] are new in each hop.

    The seeds are hop 0 and come first; edges of hop k lead into nodes of the hops up to k.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]

    def left(self, hop: int) -> tuple[int, int]:
        """Nodes and edges that count for block ``hop`` and those after it."""
        left = max(len(self.edges) - hop, 0)
        return sum(self.nodes[: left + 1]), sum(self.edges[:left])


@dataclass(frozen=True, eq=False)
class Graph:
    """Typed node and edge stores; with one type of each, `x`, `links` and `adj` speak of it.

    ``pairs`` are to be scored where labels are those of edges; ``hops`` say what of a sampled graph
    later blocks can do without.
    """

    nodes: Mapping[str, Nodes]
    edges: Mapping[EdgeType, Edges]
    pairs: Pairs | None = None
    hops: Hops | None = None

    @classmethod
    def of(
        cls,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> "Graph":
        """A graph, or a batch of them, with one type of nodes and one of edges."""
        edges = Edges(edge_index, edge_attr, edge_weight)
        return cls({"node": Nodes(x, batch)}, {("node", "to", "node"): edges})

    def with_sparse_x(self) -> "Graph":
        """The same graph, ready for fast products with features that are mostly zero."""
        x = self.x
        index = x.nonzero().T
        return self._with(features=Sparse.of(index, x[index[0], index[1]], (x.size(0), x.size(1))))

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
        return self._with(features=x)

    @property
    def batch(self) -> Tensor | None:
        """The graph of each node [N], ascending; None if all are of one graph."""
        (store,) = self.nodes.values()
        return store.batch

    @property
    def encodings(self) -> Mapping[str, Tensor]:
        """Precomputed tensors [N, ...] of the only node type."""
        (store,) = self.nodes.values()
        return store.encodings

    def with_encodings(self, encodings: Mapping[str, Tensor]) -> "Graph":
        """The same graph with precomputed tensors on its only node type."""
        ((name, store),) = self.nodes.items()
        return replace(self, nodes={name: replace(store, encodings=encodings)})

    def with_links(self, **changes: Any) -> "Graph":
        """The same graph with other ``index``, ``attr`` or ``weight`` on its only edge type.

        What was prepared from the edges is kept where index and weight stay as they are.
        """
        ((name, store),) = self.edges.items()
        if not changes.keys() & {"index", "weight"}:
            return replace(self, edges={name: replace(store, **changes)})
        return replace(self, edges={name: replace(store, **changes, _prepared={})})

    def dropout(self, p: float) -> "Graph":
        """The same graph with features dropped at random on its only node type."""
        ((name, store),) = self.nodes.items()
        return replace(self, nodes={name: store.dropout(p)})

    def project(self, weight: Tensor) -> Tensor:
        """Features times ``weight`` [F, D] of the only node type, fast where they are sparse."""
        (store,) = self.nodes.values()
        return store.features @ weight

    def _with(self, features: Tensor | Sparse) -> "Graph":
        ((name, store),) = self.nodes.items()
        return replace(self, nodes={name: replace(store, features=features)})

    def adj(self, kind: str) -> Adjacency:
        """The adjacency of ``kind`` (see `gymspace.graph.adjacency`) of the only edge type."""
        (store,) = self.nodes.values()
        return self.links.adj(kind, store.features.shape[0], store.features.dtype)

    def view(self, hop: int) -> "Graph":
        """What block ``hop`` of a stage may see: all of it, where nothing was sampled.

        Of a sampled graph, the nodes and edges from which it reaches a seed in the blocks left.
        """
        if self.hops is None:
            return self
        nodes, edges = self.hops.left(hop)
        ((kind, store),), ((link, links),) = self.nodes.items(), self.edges.items()
        return replace(self, nodes={kind: store.first(nodes)}, edges={link: links.first(edges)})
