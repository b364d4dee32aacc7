"""Layers: each takes a graph and returns it with new node features."""

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv
from torch_geometric.nn.inits import glorot

from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Adjacency
from gymspace.graph.graph import Graph
from gymspace.models.aggregate import Aggregate
from gymspace.models.dense import dense, two_maps
from gymspace.models.layer import (
    EDGE_ATTR,
    EDGE_WEIGHT,
    NO_EDGE_FEATURES,
    Layer,
    at_least,
    chosen,
    dropped,
    edge_features,
    heads_of,
    weighing,
)


class Linear(Layer):
    """One linear map, blind to the edges."""

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True):
        super().__init__()
        self.linear = dense(dim_in, dim_out, bias)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.linear.of(graph))


class MLP(Layer):
    """``layers`` linear maps with ReLU between them, blind to the edges."""

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True, layers: int = 2):
        super().__init__()
        hidden: list[nn.Module] = []
        for _ in range(at_least("layers", layers, 1) - 1):
            hidden += [dense(dim_in, dim_out, bias=True), nn.ReLU()]
            dim_in = dim_out
        self.mlp = nn.Sequential(*hidden, dense(dim_in, dim_out, bias))

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.mlp(graph.x))


class General(Layer):
    """GraphGym's general convolution: neighbours through one map, the node itself through another.

    You et al. 2020, "Design Space for Graph Neural Networks". ``self_msg`` is what a node adds of
    its own: concat (through a map of its own), add (through that of the neighbours), none.
    ``direction`` both: messages are maps of the receiver too. ``normalize``: they are weighted as
    in GCN, self loops included.
    """

    uses = EDGE_WEIGHT
    normalized = "gcn"

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        agg: Aggregate,
        bias: bool = True,
        self_msg: str = "concat",
        direction: str = "single",
        normalize: bool = False,
    ):
        super().__init__()
        self.self_msg = chosen("self_msg", self_msg, ("none", "add", "concat"))
        both = chosen("direction", direction, ("single", "both")) == "both"
        concat = self_msg == "concat"
        self.neighbour = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.self_ = dense(dim_in, dim_out, bias, gain=1.0) if concat else None
        self.bias = nn.Parameter(torch.zeros(dim_out)) if bias and not concat else None
        self.receiver = dense(dim_in, dim_out, bias=False, gain=1.0) if both else None
        self.agg = agg
        self.kind = self.normalized if normalize else "sum"
        self.uses = EDGE_WEIGHT if normalize else weighing(agg)

    def forward(self, graph: Graph) -> Graph:
        x = self.neighbour.of(graph)
        out = self.passed(graph, x)
        if self.self_ is not None:
            out = out + self.self_.of(graph)
        elif self.self_msg == "add":
            out = out + x
        return graph.with_x(out if self.bias is None else out + self.bias)

    def passed(self, graph: Graph, x: Tensor) -> Tensor:
        """What the neighbours send, where ``x`` are the features through their map."""
        if self.receiver is None and self.kind == "sum":
            return self.agg(graph, x)
        adj = graph.adj(self.kind)
        return self.gather(adj, self.messages(graph, adj, x))

    def messages(self, graph: Graph, adj: Adjacency, x: Tensor) -> Tensor:
        """Messages [E, D] along the edges of ``adj``, not yet weighted."""
        source, target = adj.index
        sent = x[source]
        return sent if self.receiver is None else sent + self.receiver.of(graph)[target]

    def gather(self, adj: Adjacency, sent: Tensor) -> Tensor:
        """Messages [E, D] weighted and aggregated: [N, D]."""
        if self.uses & EDGE_WEIGHT:
            sent = adj.weight.unsqueeze(1) * sent
        return self.agg.reduce(sent, adj.index[1], adj.nodes)


class GCN(Layer):
    """Graph convolution with symmetric normalisation (Kipf & Welling 2017)."""

    uses = EDGE_WEIGHT

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim_in, dim_out))
        self.bias = nn.Parameter(torch.zeros(dim_out)) if bias else None
        glorot(self.weight)

    def forward(self, graph: Graph) -> Graph:
        x = graph.adj("gcn") @ graph.project(self.weight)
        return graph.with_x(x if self.bias is None else x + self.bias)

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape)


class SAGE(Layer):
    """GraphSAGE (Hamilton et al. 2017); averages unless ``model.agg`` says otherwise."""

    uses = EDGE_WEIGHT
    default_agg = "mean"

    def __init__(self, dim_in: int, dim_out: int, agg: nn.Module, bias: bool = True):
        super().__init__()
        self.neighbour = dense(dim_in, dim_out, bias, gain=1.0)
        self.self_ = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.agg = agg
        self.uses = weighing(agg)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.neighbour(self.agg(graph, graph.x)) + self.self_.of(graph))


class GIN(Layer):
    """Graph isomorphism layer (Xu et al. 2019): a two-layer MLP, a fixed or learnt ``eps``."""

    uses = EDGE_WEIGHT

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        agg: nn.Module,
        bias: bool = True,
        eps: float = 0.0,
        train_eps: bool = False,
    ):
        super().__init__()
        self.mlp = two_maps(dim_in, dim_out, bias)
        self.agg = agg
        self.uses = weighing(agg)
        self.eps = nn.Parameter(torch.tensor(float(eps)), requires_grad=train_eps)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.mlp(self.agg(graph, graph.x) + (1 + self.eps) * graph.x))


class GAT(Layer):
    """Graph attention (Velickovic et al. 2018); ``heads`` share the width; of scores: the mean.

    ``edge_attr`` lets the attention see edge features too (self loops get a node's average).
    """

    uses = EDGE_ATTR

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        bias: bool = True,
        heads: int = 1,
        dropout: float = 0.0,
        edge_attr: bool = False,
        edge_dim: int | None = None,
        scores: bool = False,
    ):
        super().__init__()
        if edge_attr and edge_dim is None:
            raise ConfigError("model.layer.edge_attr", NO_EDGE_FEATURES, value=True)
        self.edge_dim = edge_dim if edge_attr else None
        self.uses = EDGE_ATTR if edge_attr else frozenset()
        self.conv = GATConv(
            dim_in,
            **heads_of(heads, dim_out, scores),
            dropout=dropped(dropout),
            add_self_loops=edge_attr,
            edge_dim=self.edge_dim,
            bias=bias,
        )

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(attend(self.conv, graph, self.edge_dim))


def attend(conv: nn.Module, graph: Graph, edge_dim: int | None) -> Tensor:
    """Attention with self loops; ``conv`` adds them itself where there are edge features."""
    if edge_dim is None:
        return conv(graph.x, graph.adj("loops").index)
    return conv(graph.x, graph.links.index, edge_features(graph, edge_dim))


class EdgeIndexLayer(Layer):
    """A PyG-style layer as one of ours: it gets x, edge_index, and the edge data that it names."""

    uses = EDGE_ATTR | EDGE_WEIGHT

    def __init__(self, conv: nn.Module, takes: tuple[str, ...]):
        super().__init__()
        self.conv = conv
        self.takes = takes
        self.uses = self.uses.intersection(takes)

    def forward(self, graph: Graph) -> Graph:
        offered = {"edge_attr": graph.links.attr, "edge_weight": graph.links.weight}
        named = {name: value for name, value in offered.items() if name in self.takes}
        x: Tensor = self.conv(graph.x, graph.links.index, **named)
        return graph.with_x(x)


def adapt(layer: Any) -> nn.Module:
    """``layer`` itself if its ``forward`` takes a ``graph``, else wrapped as a PyG-style layer."""
    takes = tuple(inspect.signature(layer.forward).parameters)
    return layer if takes[:1] == ("graph",) else EdgeIndexLayer(layer, takes)
