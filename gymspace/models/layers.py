"""Layers: each takes a graph and returns it with new node features."""

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv
from torch_geometric.nn.inits import glorot

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph

RELU_GAIN = nn.init.calculate_gain("relu")


class Dense(nn.Linear):
    """A linear map of a graph's features, fast where most of these are zero."""

    def of(self, graph: Graph) -> Tensor:
        x = graph.project(self.weight.t())
        return x if self.bias is None else x + self.bias


def dense(dim_in: int, dim_out: int, bias: bool, gain: float = RELU_GAIN) -> Dense:
    """A linear map with GraphGym's initialisation: Xavier uniform with ReLU's gain, bias zero."""
    linear = Dense(dim_in, dim_out, bias=bias)
    nn.init.xavier_uniform_(linear.weight, gain=gain)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


class Linear(nn.Module):
    """One linear map, blind to the edges."""

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True):
        super().__init__()
        self.linear = dense(dim_in, dim_out, bias)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.linear.of(graph))


class MLP(nn.Module):
    """``layers`` linear maps with ReLU between them, blind to the edges."""

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True, layers: int = 2):
        super().__init__()
        hidden: list[nn.Module] = []
        for _ in range(layers - 1):
            hidden += [dense(dim_in, dim_out, bias=True), nn.ReLU()]
            dim_in = dim_out
        self.mlp = nn.Sequential(*hidden, dense(dim_in, dim_out, bias))

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.mlp(graph.x))


class General(nn.Module):
    """GraphGym's general convolution: neighbours through one map, the node itself through another.

    You et al. 2020, "Design Space for Graph Neural Networks".
    """

    def __init__(self, dim_in: int, dim_out: int, agg: nn.Module, bias: bool = True):
        super().__init__()
        self.neighbour = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.self_ = dense(dim_in, dim_out, bias, gain=1.0)
        self.agg = agg

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.agg(graph, self.neighbour.of(graph)) + self.self_.of(graph))


class GCN(nn.Module):
    """Graph convolution with symmetric normalisation (Kipf & Welling 2017)."""

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


class SAGE(nn.Module):
    """GraphSAGE (Hamilton et al. 2017); averages unless ``model.agg`` says otherwise."""

    default_agg = "mean"

    def __init__(self, dim_in: int, dim_out: int, agg: nn.Module, bias: bool = True):
        super().__init__()
        self.neighbour = dense(dim_in, dim_out, bias, gain=1.0)
        self.self_ = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.agg = agg

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.neighbour(self.agg(graph, graph.x)) + self.self_.of(graph))


class GIN(nn.Module):
    """Graph isomorphism layer (Xu et al. 2019): a two-layer MLP, a fixed or learnt ``eps``."""

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
        self.mlp = nn.Sequential(
            dense(dim_in, dim_out, bias=True), nn.ReLU(), dense(dim_out, dim_out, bias)
        )
        self.agg = agg
        self.eps = nn.Parameter(torch.tensor(float(eps)), requires_grad=train_eps)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.mlp(self.agg(graph, graph.x) + (1 + self.eps) * graph.x))


class GAT(nn.Module):
    """Graph attention (Velickovic et al. 2018); ``heads`` share the width and are concatenated."""

    def __init__(
        self, dim_in: int, dim_out: int, bias: bool = True, heads: int = 1, dropout: float = 0.0
    ):
        super().__init__()
        if heads < 1 or dim_out % heads:
            raise ConfigError(
                "model.layer.heads", f"must divide the layer's width {dim_out}", value=heads
            )
        self.conv = GATConv(
            dim_in, dim_out // heads, heads, dropout=dropout, add_self_loops=False, bias=bias
        )

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.conv(graph.x, graph.adj("loops").index))


class EdgeIndexLayer(nn.Module):
    """A PyG-style layer as one of ours: it gets x, edge_index, and the edge data that it names."""

    def __init__(self, conv: nn.Module, takes: tuple[str, ...]):
        super().__init__()
        self.conv = conv
        self.takes = takes

    def forward(self, graph: Graph) -> Graph:
        offered = {"edge_attr": graph.links.attr, "edge_weight": graph.links.weight}
        named = {name: value for name, value in offered.items() if name in self.takes}
        x: Tensor = self.conv(graph.x, graph.links.index, **named)
        return graph.with_x(x)


def adapt(layer: Any) -> nn.Module:
    """``layer`` itself if its ``forward`` takes a ``graph``, else wrapped as a PyG-style layer."""
    takes = tuple(inspect.signature(layer.forward).parameters)
    return layer if takes[:1] == ("graph",) else EdgeIndexLayer(layer, takes)
