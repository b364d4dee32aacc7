"""Identity-aware layers (You et al. 2021, "Identity-aware GNNs"): some nodes have own weights.

As in GraphGym, the identity nodes get the sum of the common and of their own map. They are those
that ``graph.encodings["identity"]`` marks, [N] or [N, 1].
"""

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv
from torch_geometric.nn.inits import glorot

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.dense import dense, two_maps
from gymspace.models.layer import EDGE_WEIGHT, Layer, dropped, heads_of, weighing
from gymspace.models.layers import attend


def identity(graph: Graph) -> Tensor:
    """1 for identity nodes and 0 for others: [N, 1], in the dtype of the features.

    Raises:
        ConfigError: the graph does not say, or says it in another shape.
    """
    marks = graph.encodings.get("identity")
    nodes = graph.x.size(0)
    if marks is None:
        raise ConfigError("model.layer", "needs to know the identity nodes: encodings=[identity]")
    if marks.numel() != nodes:
        problem = f"gives {list(marks.shape)} marks, not one for each of {nodes} nodes"
        raise ConfigError("encodings", problem, value="identity")
    return marks.view(nodes, 1).to(graph.x.dtype)


class IDGCN(Layer):
    """GCN whose identity nodes send messages of their own kind."""

    uses = EDGE_WEIGHT
    needs = frozenset({"identity"})

    def __init__(self, dim_in: int, dim_out: int, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim_in, dim_out))
        self.weight_id = nn.Parameter(torch.empty(dim_in, dim_out))
        self.bias = nn.Parameter(torch.zeros(dim_out)) if bias else None
        glorot(self.weight)
        glorot(self.weight_id)

    def forward(self, graph: Graph) -> Graph:
        x = graph.project(self.weight) + identity(graph) * graph.project(self.weight_id)
        x = graph.adj("gcn") @ x
        return graph.with_x(x if self.bias is None else x + self.bias)


class IDSAGE(Layer):
    """GraphSAGE whose identity nodes take in messages and themselves by maps of their own."""

    uses = EDGE_WEIGHT
    needs = frozenset({"identity"})
    default_agg = "mean"

    def __init__(self, dim_in: int, dim_out: int, agg: nn.Module, bias: bool = True):
        super().__init__()
        self.neighbour = dense(dim_in, dim_out, bias, gain=1.0)
        self.self_ = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.neighbour_id = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.self_id = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.agg = agg
        self.uses = weighing(agg)

    def forward(self, graph: Graph) -> Graph:
        passed = self.agg(graph, graph.x)
        own = self.neighbour_id(passed) + self.self_id.of(graph)
        x = self.neighbour(passed) + self.self_.of(graph) + identity(graph) * own
        return graph.with_x(x)


class IDGAT(Layer):
    """GAT whose identity nodes are seen through a map of their own, also by the attention."""

    needs = frozenset({"identity"})

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        bias: bool = True,
        heads: int = 1,
        dropout: float = 0.0,
        scores: bool = False,
    ):
        super().__init__()
        self.map = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.map_id = dense(dim_in, dim_out, bias=False, gain=1.0)
        self.conv = GATConv(
            dim_out,
            **heads_of(heads, dim_out, scores),
            dropout=dropped(dropout),
            add_self_loops=False,
            bias=bias,
        )
        self.conv.lin = nn.Identity()  # the maps above are in its place

    def forward(self, graph: Graph) -> Graph:
        x = self.map.of(graph) + identity(graph) * self.map_id.of(graph)
        return graph.with_x(attend(self.conv, graph.with_x(x), None))


class IDGIN(Layer):
    """GIN whose identity nodes have a second MLP, added to the common one."""

    uses = EDGE_WEIGHT
    needs = frozenset({"identity"})

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
        self.mlp_id = two_maps(dim_in, dim_out, bias)
        self.agg = agg
        self.uses = weighing(agg)
        self.eps = nn.Parameter(torch.tensor(float(eps)), requires_grad=train_eps)

    def forward(self, graph: Graph) -> Graph:
        x = self.agg(graph, graph.x) + (1 + self.eps) * graph.x
        return graph.with_x(self.mlp(x) + identity(graph) * self.mlp_id(x))
