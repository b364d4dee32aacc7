"""Encodings by walks, degrees, triangles, ranks and paths."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_scipy_sparse_matrix

from gymspace.encodings.augmented import Augmented
from gymspace.encodings.base import Encoding, Mapped, Tensors, as_float
from gymspace.encodings.betweenness import betweenness
from gymspace.encodings.blocks import blocks, spread
from gymspace.encodings.matrices import (
    adjacency,
    is_symmetric,
    random_walk,
    symmetric_walk,
    undirected,
)
from gymspace.encodings.spectral import require_small
from gymspace.encodings.walks import diagonals
from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole
from gymspace.graph.graph import Graph


class RWSE(Mapped):
    """Probabilities that a random walk is back after 1 .. ``steps`` steps (Dwivedi et al. 2022).

    The walk follows edges in their direction, self loops too, and a node without any is left for
    good. What PyG's AddRandomWalkPE gives, but parallel edges count once, and large graphs do not
    become dense matrices.
    """

    name = "rwse"

    def __init__(self, steps: int = 16, dim: int = 16):
        super().__init__(whole("encodings.steps", steps, 1), whole("encodings.dim", dim, 1))
        self.steps = steps

    def settings(self) -> Mapping[str, Any]:
        return {"steps": self.steps}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = adjacency(edge_index, nodes)
        symmetric = is_symmetric(matrix)
        # Similar matrices, as are their powers, with the same diagonals.
        walk = symmetric_walk(matrix) if symmetric else random_walk(matrix)
        return {self.name: as_float(diagonals(walk, self.steps, symmetric, self.name))}


class Degree(Augmented):
    """How many edges come in, self loops and parallel ones too, as a layer sees them."""

    name = numbers = "degree"
    stored = False

    def __init__(self, form: str = "original", dim: int | None = None):
        super().__init__(form, dim)

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        return {self.name: torch.bincount(edge_index[1], minlength=nodes).double().unsqueeze(1)}


class Clustering(Augmented):
    """Share of pairs of neighbours that are linked, 0 with less than two; edges both ways."""

    name = numbers = "clustering"

    def __init__(self, form: str = "original", dim: int | None = None):
        super().__init__(form, dim)

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = undirected(edge_index, nodes)
        degree = matrix.sum(axis=1)
        triangles = (matrix @ matrix).multiply(matrix).sum(axis=1)
        share = triangles / np.maximum(degree * (degree - 1), 1)
        return {self.name: as_float(share).unsqueeze(1)}


class PageRank(Augmented):
    """PageRank along the edges, times the number of nodes: 1 on average in a graph of any size."""

    name = numbers = "pagerank"

    def __init__(self, damping: float = 0.85, form: str = "original", dim: int | None = None):
        super().__init__(form, dim)
        if not 0 <= damping < 1:
            raise ConfigError("encodings.damping", "must be from 0 to below 1", value=damping)
        self.damping = float(damping)

    def settings(self) -> Mapping[str, Any]:
        return {"damping": self.damping}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = adjacency(edge_index, nodes)
        inflow, stuck = random_walk(matrix).T.tocsr(), matrix.sum(axis=1) == 0
        rank = np.ones(nodes)
        while True:  # each round takes the error to at most its share `damping`
            flow = inflow @ rank + rank[stuck].sum() / max(nodes, 1)
            after = 1 - self.damping + self.damping * flow
            if np.abs(after - rank).sum() <= 1e-10 * nodes:
                return {self.name: as_float(after).unsqueeze(1)}
            rank = after


class Betweenness(Augmented):
    """Share of the shortest paths between others that pass a node (Brandes 2001); edges both ways.

    In graphs of more than ``sources`` nodes only paths from that many are counted, and scaled up.
    """

    name = numbers = "betweenness"

    def __init__(self, sources: int = 5000, form: str = "original", dim: int | None = None):
        super().__init__(form, dim)
        self.sources = whole("encodings.sources", sources, 1)

    def settings(self) -> Mapping[str, Any]:
        return {"sources": self.sources}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = undirected(edge_index, nodes)
        shares = betweenness(matrix, spread(nodes, self.sources), self.name)
        return {self.name: as_float(shares).unsqueeze(1)}


class PathLength(Augmented):
    """Mean length of the shortest paths from the other nodes that reach a node; 0 if none does.

    Edges count both ways. In graphs of more than ``sources`` nodes it is the mean over that many.
    """

    name = numbers = "path_length"

    def __init__(self, sources: int = 5000, form: str = "original", dim: int | None = None):
        super().__init__(form, dim)
        self.sources = whole("encodings.sources", sources, 1)

    def settings(self) -> Mapping[str, Any]:
        return {"sources": self.sources}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = undirected(edge_index, nodes)
        total, reached = np.zeros(nodes), np.zeros(nodes)
        for block in blocks(self.name, spread(nodes, self.sources), nodes):
            lengths = shortest_path(matrix, method="D", unweighted=True, indices=block)
            found = np.isfinite(lengths) & (lengths > 0)
            total += np.where(found, lengths, 0.0).sum(axis=0)
            reached += found.sum(axis=0)
        return {self.name: as_float(total / np.maximum(reached, 1)).unsqueeze(1)}


class Identity(Augmented):
    """Who a node is, for identity-aware models (You et al. 2021): closed walks of 1 .. ``steps``.

    As in GraphGym's ``node_identity``, they are the diagonals of the powers of the normalised
    adjacency with self loops (tensor ``identity.walks`` [N, steps]). ``identity`` [N, 1] marks the
    nodes that identity-aware layers treat apart: the ``anchors`` of the highest degree, or all.
    """

    name = "identity"
    numbers = "identity.walks"

    def __init__(
        self,
        steps: int = 8,
        anchors: int | None = None,
        form: str = "original",
        dim: int | None = None,
    ):
        super().__init__(form, dim, whole("encodings.steps", steps, 1))
        self.steps = steps
        self.anchors = None if anchors is None else whole("encodings.anchors", anchors, 1)

    def settings(self) -> Mapping[str, Any]:
        return {"steps": self.steps, "anchors": self.anchors}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        index, weight = gcn_norm(edge_index, None, nodes, dtype=torch.float64)
        matrix = to_scipy_sparse_matrix(index, weight, nodes).tocsr()
        walks = diagonals(matrix, self.steps, is_symmetric(matrix), self.name)
        marks = torch.ones(nodes, 1, dtype=torch.float64)
        if self.anchors is not None and self.anchors < nodes:
            degree = torch.bincount(edge_index.flatten(), minlength=nodes)
            order = torch.argsort(degree, descending=True, stable=True)
            marks[order[self.anchors :]] = 0.0
        return {self.numbers: as_float(walks), self.name: marks}


class Constant(Encoding):
    """``dim`` ones for every node."""

    name = "constant"
    stored = False

    def __init__(self, dim: int = 1):
        super().__init__()
        self.dim = whole("encodings.dim", dim, 1)

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        return {self.name: torch.ones(nodes, 1, dtype=torch.float64)}

    def forward(self, graph: Graph) -> Tensor:
        return graph.encodings[self.name].expand(-1, self.dim)


class OneHot(Encoding):
    """A node's number in its graph, one-hot; by default as wide as the dataset's largest graph.

    With a smaller ``dim`` all nodes from number ``dim`` - 1 on are alike.
    """

    name = "onehot"
    stored = False

    def __init__(self, nodes: int, dim: int | None = None):
        super().__init__()
        self.dim = max(nodes, 1) if dim is None else whole("encodings.dim", dim, 1)

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        return {self.name: torch.arange(nodes)}

    def forward(self, graph: Graph) -> Tensor:
        number = graph.encodings[self.name].clamp(max=self.dim - 1)
        return functional.one_hot(number, self.dim).to(graph.x.dtype)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class ShortestPaths(Encoding):
    """Length of the shortest path along the edges from each node to each, for attention alone.

    Tensor ``spd`` [N, N] int16, -1 where there is none; of many graphs as wide as the largest.
    For graphs of up to 5,000 nodes.
    """

    name = "spd"
    dim = 0
    fill = -1

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        require_small(self.name, nodes)
        matrix = adjacency(edge_index, nodes)
        found = np.zeros((nodes, nodes), dtype=np.int16)
        for block in blocks(self.name, np.arange(nodes), nodes):
            lengths = shortest_path(matrix, method="D", unweighted=True, indices=block)
            found[block] = np.where(np.isfinite(lengths), lengths, -1)
        return {self.name: torch.from_numpy(found)}

    def forward(self, graph: Graph) -> Tensor:
        return graph.x.new_zeros(graph.x.size(0), 0)
