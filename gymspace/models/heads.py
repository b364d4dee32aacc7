"""Heads: from node features to scores of nodes or of graphs.

A head says as ``level`` what it scores; one of the user's that does not is taken at its word.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch_geometric.nn import aggr

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import MakeBlock
from gymspace.models.layers import dense


class NodeHead(nn.Module):
    """``layers - 1`` blocks and a linear map for each node: [N, dim_in] -> [N, dim_out]."""

    level = "node"

    def __init__(self, dim_in: int, dim_out: int, layers: int, make_block: MakeBlock):
        super().__init__()
        self.blocks = nn.ModuleList(make_block(dim_in, dim_in) for _ in range(layers - 1))
        self.out = dense(dim_in, dim_out, bias=True)

    @property
    def last(self) -> nn.Module:
        """The map whose input is a node's embedding."""
        return self.out

    def forward(self, graph: Graph) -> Tensor:
        for block in self.blocks:
            graph = block(graph)
        return self.out(graph.x)


class LayerHead(nn.Module):
    """A bare message-passing layer, the ``hop``-th, as the head, as in Kipf & Welling's GCN."""

    level = "node"

    def __init__(self, layer: nn.Module, hop: int = 0):
        super().__init__()
        self.layer = layer
        self.hop = hop

    @property
    def last(self) -> nn.Module:
        """The map whose input is a node's embedding."""
        return self.layer

    def forward(self, graph: Graph) -> Tensor:
        return self.layer(graph.view(self.hop)).x


class Attention(aggr.AttentionalAggregation):
    """A softmax over each graph's nodes weighs them (Li et al. 2016)."""

    def __init__(self, dim: int):
        super().__init__(nn.Linear(dim, 1))


class Set2Set(aggr.Set2Set):
    """An LSTM reads each graph several times (Vinyals et al. 2016); twice as wide as the nodes."""

    def __init__(self, dim: int):
        super().__init__(dim, processing_steps=3)


POOLS: Mapping[str, Callable[[int], nn.Module]] = MappingProxyType(
    {
        "add": lambda dim: aggr.SumAggregation(),
        "mean": lambda dim: aggr.MeanAggregation(),
        "max": lambda dim: aggr.MaxAggregation(),
        "attention": Attention,
        "set2set": Set2Set,
    }
)


class GraphHead(nn.Module):
    """Pools the nodes of each graph; then ``layers - 1`` blocks and a linear map: [G, dim_out].

    ``pool`` is add, mean, max, attention or set2set. With ``last``, which scores nodes, its scores
    are pooled and nothing follows.
    """

    level = "graph"

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        layers: int,
        make_block: MakeBlock,
        last: nn.Module | None = None,
        pool: str = "add",
    ):
        super().__init__()
        if pool not in POOLS:
            raise ConfigError("model.head.pool", "unknown pooling", value=pool, choices=POOLS)
        self.last = last
        self.pool = POOLS[pool](dim_in if last is None else dim_out)
        wide = 2 if isinstance(self.pool, Set2Set) else 1
        if last is not None and wide > 1:
            problem = f"pool={pool} is wider than the scores: set 1 or more"
            raise ConfigError("model.layers_post_mp", problem, value=0)
        width = wide * dim_in
        self.blocks = nn.ModuleList(make_block(width, width) for _ in range(layers - 1))
        self.out = None if last is not None else dense(width, dim_out, bias=True)

    def forward(self, graph: Graph) -> Tensor:
        x = graph.x if self.last is None else self.last(graph)
        pooled = pooled_rows(x, graph.batch, self.pool)
        if self.out is None:
            return pooled
        rows = Graph.of(pooled, graph.links.index.new_empty(2, 0))
        for block in self.blocks:
            rows = block(rows)
        return self.out(rows.x)


def pooled_rows(x: Tensor, batch: Tensor | None, pool: nn.Module) -> Tensor:
    """A row [G, ...] for each graph of the nodes ``x`` [N, ...]; without ``batch`` it is one."""
    if batch is None:
        batch = torch.zeros(x.size(0), dtype=torch.int64, device=x.device)
    return pool(x, batch, dim_size=int(batch[-1]) + 1)
