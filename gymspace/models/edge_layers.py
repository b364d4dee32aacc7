"""Layers that need edge features: GINE, GraphGym's general edge convolution, GatedGCN."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GINEConv
from torch_geometric.utils import scatter

from gymspace.encodings.base import mlp
from gymspace.encodings.spectral import gaps
from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Adjacency
from gymspace.graph.graph import Graph
from gymspace.models.aggregate import Aggregate, AsPyG
from gymspace.models.dense import dense, redraw, two_maps
from gymspace.models.layer import EDGE_ATTR, EDGE_WEIGHT, POSITIONS, Layer, edge_features
from gymspace.models.layers import General
from gymspace.models.pyg_layers import Convolution


class GINE(Convolution):
    """GIN with edge features added to the messages (Hu et al. 2020).

    A linear map takes the edges to the width of the nodes, unless they have it already.
    """

    needs = frozenset({"edge_dim"})

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        agg: Aggregate,
        edge_dim: int,
        bias: bool = True,
        eps: float = 0.0,
        train_eps: bool = False,
    ):
        mlp = two_maps(dim_in, dim_out, bias)
        mapped = None if edge_dim == dim_in else edge_dim
        conv = GINEConv(mlp, eps=eps, train_eps=train_eps, edge_dim=mapped, aggr=AsPyG(agg))
        redraw(mlp)
        super().__init__(conv, edge_dim)


class GeneralEdge(General):
    """GraphGym's general convolution whose messages are maps of node and edge together.

    It normalises without adding self loops, which would have no features. In training only a
    share ``keep`` of the edges is there, drawn anew at each step.
    """

    uses = EDGE_ATTR | EDGE_WEIGHT
    needs = frozenset({"edge_dim"})
    normalized = "symmetric"

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        agg: Aggregate,
        edge_dim: int,
        bias: bool = True,
        self_msg: str = "concat",
        direction: str = "single",
        normalize: bool = False,
        keep: float = 1.0,
    ):
        super().__init__(dim_in, dim_out, agg, bias, self_msg, direction, normalize)
        if not 0 < keep <= 1:
            raise ConfigError("model.layer.keep", "must be above 0, and 1 at most", value=keep)
        self.edge = dense(edge_dim, dim_out, bias=False, gain=1.0)
        self.edge_dim = edge_dim
        self.keep = keep
        self.uses = self.uses | EDGE_ATTR

    def passed(self, graph: Graph, x: Tensor) -> Tensor:
        graph = graph.with_links(attr=edge_features(graph, self.edge_dim))
        if self.training and self.keep < 1:
            graph = sample_edges(graph, self.keep)
        adj = graph.adj(self.kind)
        return self.gather(adj, self.messages(graph, adj, x))

    def messages(self, graph: Graph, adj: Adjacency, x: Tensor) -> Tensor:
        edge: Tensor = self.edge(graph.links.attr)
        return super().messages(graph, adj, x) + edge


def sample_edges(graph: Graph, keep: float) -> Graph:
    """The graph with each edge left in with probability ``keep``."""
    links = graph.links
    kept = torch.rand(links.index.size(1), device=links.index.device) < keep
    attr, weight = (None if part is None else part[kept] for part in (links.attr, links.weight))
    return graph.with_links(index=links.index[:, kept], attr=attr, weight=weight)


class GatedGCN(Layer):
    """Edges that gate the messages along them, and learn (Bresson & Laurent 2017).

    As in Dwivedi et al. 2020: e = C e_ij + D x_i + E x_j, x_i' = A x_i + sum_j g(e) * B x_j /
    sum_j g(e) with the sigmoid g, and e_ij' = e_ij + ReLU(norm(e)). The norm has no weights: those
    of the last layer, whose edges nobody reads, would never learn. Edges keep their width; where
    it is not that of the nodes, what is added to them comes back through the transposed C.

    With ``positions`` each gate is scaled by a learnt share, from 0 to 1, that depends on how far
    apart the encoding ``equivstable_lap`` places the edge's ends (Wang et al. 2022).
    """

    uses = EDGE_ATTR | POSITIONS
    updates = frozenset({"x", "edge_attr"})
    needs = frozenset({"edge_dim"})

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        edge_dim: int,
        bias: bool = True,
        edge_norm: bool = True,
        positions: bool = False,
    ):
        super().__init__()
        self.self_ = dense(dim_in, dim_out, bias, gain=1.0)
        self.neighbour = dense(dim_in, dim_out, bias=True, gain=1.0)
        self.edge = dense(edge_dim, dim_out, bias=True, gain=1.0)
        self.receiver = dense(dim_in, dim_out, bias=True, gain=1.0)
        self.sender = dense(dim_in, dim_out, bias=True, gain=1.0)
        self.norm = EdgeNorm(dim_out, affine=False) if edge_norm else nn.Identity()
        self.same_width = edge_dim == dim_out
        self.edge_dim = edge_dim
        self.near = nn.Sequential(*mlp(1, dim_out, 1), nn.Sigmoid()) if positions else None
        self.uses = EDGE_ATTR | POSITIONS if positions else EDGE_ATTR

    def forward(self, graph: Graph) -> Graph:
        attr = edge_features(graph, self.edge_dim)
        source, target = graph.links.index
        edge = self.edge(attr) + self.receiver.of(graph)[target] + self.sender.of(graph)[source]
        gate = edge.sigmoid() if self.near is None else edge.sigmoid() * self.near(gaps(graph))
        nodes = graph.x.size(0)
        passed = scatter(gate * self.neighbour.of(graph)[source], target, 0, nodes, reduce="sum")
        total = scatter(gate, target, 0, nodes, reduce="sum")
        x = self.self_.of(graph) + passed / (total + 1e-6)
        return graph.with_x(x).with_links(attr=attr + self._gain(edge))

    def _gain(self, edge: Tensor) -> Tensor:
        gain: Tensor = self.norm(edge).relu()
        return gain if self.same_width else gain @ self.edge.weight


class EdgeNorm(nn.BatchNorm1d):
    """Batch normalisation that takes its running estimates where a batch has not two rows."""

    def forward(self, rows: Tensor) -> Tensor:
        if rows.size(0) > 1 or self.running_mean is None:
            return super().forward(rows)
        return functional.batch_norm(rows, self.running_mean, self.running_var, eps=self.eps)
