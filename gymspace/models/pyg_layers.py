"""Further layers: PyG's convolutions, or the same on adjacencies that are prepared once."""

import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.nn.inits import glorot

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.aggregate import Aggregate, AsPyG
from gymspace.models.dense import dense, redraw, two_maps
from gymspace.models.layer import (
    EDGE_ATTR,
    EDGE_WEIGHT,
    Layer,
    at_least,
    chosen,
    dropped,
    edge_features,
    heads_of,
    share,
)
from gymspace.models.layers import SAGE, attend


class Convolution(Layer):
    """A convolution of PyG that sees edge features where the graph has them."""

    uses = EDGE_ATTR

    def __init__(self, conv: nn.Module, edge_dim: int | None):
        super().__init__()
        self.conv = conv
        self.edge_dim = edge_dim

    def forward(self, graph: Graph) -> Graph:
        attr = None if self.edge_dim is None else edge_features(graph, self.edge_dim)
        return graph.with_x(self.conv(graph.x, graph.links.index, edge_attr=attr))


class NoLayer(Layer):
    """No layer: passes everything on as it is."""

    updates: frozenset[str] = frozenset()

    def __init__(self, dim_in: int, dim_out: int):
        super().__init__()
        if dim_in != dim_out:
            problem = f"passes features on as they are, so width {dim_in} cannot become {dim_out}"
            raise ConfigError("model.layer", problem, value="none")

    def forward(self, graph: Graph) -> Graph:
        return graph


class GraphConv(SAGE):
    """Graph convolution without normalisation (Morris et al. 2019); sums unless told otherwise."""

    default_agg = "add"


class GATv2(Layer):
    """Attention that depends on both ends of an edge (Brody et al. 2022), and on its features."""

    uses = EDGE_ATTR

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        edge_dim: int | None = None,
        bias: bool = True,
        heads: int = 1,
        dropout: float = 0.0,
        share_weights: bool = False,
        scores: bool = False,
    ):
        super().__init__()
        self.edge_dim = edge_dim
        self.conv = pyg.GATv2Conv(
            dim_in,
            **heads_of(heads, dim_out, scores),
            dropout=dropped(dropout),
            add_self_loops=edge_dim is not None,
            edge_dim=edge_dim,
            bias=bias,
            share_weights=share_weights,
        )

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(attend(self.conv, graph, self.edge_dim))


class EdgeConv(Layer):
    """An MLP of each node and its difference to each neighbour (Wang et al. 2019), the maximum."""

    default_agg = "max"

    def __init__(self, dim_in: int, dim_out: int, agg: Aggregate, bias: bool = True):
        super().__init__()
        mlp = two_maps(2 * dim_in, dim_out, bias)
        self.conv = pyg.EdgeConv(mlp, aggr=AsPyG(agg))
        redraw(mlp)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.conv(graph.x, graph.links.index))


class PNA(Convolution):
    """Several aggregations, each scaled by the degree in several ways (Corso et al. 2020)."""

    needs = frozenset({"degrees"})

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        degrees: Tensor,
        edge_dim: int | None = None,
        aggregators: tuple[str, ...] = ("mean", "min", "max", "std"),
        scalers: tuple[str, ...] = ("identity", "amplification", "attenuation"),
        towers: int = 1,
    ):
        share("towers", towers, dim_out)
        for name, names in (("aggregators", aggregators), ("scalers", scalers)):
            if not names:
                raise ConfigError(f"model.layer.{name}", "must name one or more", value=[])
        for name in aggregators:
            chosen("aggregators", name, ("mean", "min", "max", "std", "var", "sum"))
        for name in scalers:
            known = ("identity", "amplification", "attenuation", "linear", "inverse_linear")
            chosen("scalers", name, known)
        conv = pyg.PNAConv(
            dim_in,
            dim_out,
            list(aggregators),
            list(scalers),
            _some_degree(degrees),
            edge_dim=edge_dim,
            towers=towers,
        )
        super().__init__(conv, edge_dim)


def _some_degree(degrees: Tensor) -> Tensor:
    """``degrees``, or one node of degree 1 where there is no edge: the scalers divide by a mean."""
    return degrees if degrees[1:].any() else degrees.new_tensor([0, 1])


class GEN(Convolution):
    """Softmax aggregation with an MLP after it (Li et al. 2020, DeeperGCN)."""

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        edge_dim: int | None = None,
        bias: bool = True,
        layers: int = 2,
        expansion: int = 2,
        norm: str = "batch",
        learn_t: bool = False,
    ):
        conv = pyg.GENConv(
            dim_in,
            dim_out,
            learn_t=learn_t,
            norm=chosen("norm", norm, ("batch", "layer")),
            num_layers=at_least("layers", layers, 1),
            expansion=at_least("expansion", expansion, 1),
            bias=bias,
            edge_dim=edge_dim,
        )
        super().__init__(conv, edge_dim)


class Transformer(Convolution):
    """Dot-product attention along the edges (Shi et al. 2021); ``beta`` gates the node's own."""

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        edge_dim: int | None = None,
        bias: bool = True,
        heads: int = 1,
        dropout: float = 0.0,
        beta: bool = False,
        scores: bool = False,
    ):
        conv = pyg.TransformerConv(
            dim_in,
            **heads_of(heads, dim_out, scores),
            beta=beta,
            dropout=dropped(dropout),
            edge_dim=edge_dim,
            bias=bias,
        )
        super().__init__(conv, edge_dim)


class Cheb(Layer):
    """Chebyshev polynomials of the Laplacian (Defferrard et al. 2016), ``order`` of them."""

    uses = EDGE_WEIGHT

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True, order: int = 3):
        super().__init__()
        self.conv = pyg.ChebConv(dim_in, dim_out, at_least("order", order, 1), bias=bias)

    def forward(self, graph: Graph) -> Graph:
        links = graph.links
        # The bound of the symmetric Laplacian's spectrum, whatever else is in the batch.
        return graph.with_x(self.conv(graph.x, links.index, links.weight, lambda_max=2.0))


class TAG(Layer):
    """A map for each of 0 to ``hops`` steps along the edges (Du et al. 2017)."""

    uses = EDGE_WEIGHT

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True, hops: int = 3):
        super().__init__()
        at_least("hops", hops, 1)
        self.weight = nn.Parameter(torch.empty(hops + 1, dim_in, dim_out))
        self.bias = nn.Parameter(torch.zeros(dim_out)) if bias else None
        glorot(self.weight)

    def forward(self, graph: Graph) -> Graph:
        adj = graph.adj("symmetric")
        # Horner's rule: as many products as hops, all at the output's width.
        *nearer, far = self.weight
        out = graph.project(far)
        for near in reversed(nearer):
            out = adj @ out + graph.project(near)
        return graph.with_x(out if self.bias is None else out + self.bias)


class SGC(Layer):
    """``hops`` steps of GCN's averaging and one map (Wu et al. 2019)."""

    uses = EDGE_WEIGHT

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True, hops: int = 2):
        super().__init__()
        self.hops = at_least("hops", hops, 1)
        self.map = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.bias = nn.Parameter(torch.zeros(dim_out)) if bias else None

    def forward(self, graph: Graph) -> Graph:
        adj, x = graph.adj("gcn"), self.map.of(graph)
        for _ in range(self.hops):
            x = adj @ x
        return graph.with_x(x if self.bias is None else x + self.bias)
