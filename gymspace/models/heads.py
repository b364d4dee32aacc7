"""Heads: from node features to scores."""

from torch import Tensor, nn

from gymspace.graph.graph import Graph
from gymspace.models.blocks import MakeBlock
from gymspace.models.layers import dense


class NodeHead(nn.Module):
    """``layers - 1`` blocks and a linear map for each node: [N, dim_in] -> [N, dim_out]."""

    def __init__(self, dim_in: int, dim_out: int, layers: int, make_block: MakeBlock):
        super().__init__()
        self.blocks = nn.ModuleList(make_block(dim_in, dim_in) for _ in range(layers - 1))
        self.out = dense(dim_in, dim_out, bias=True)

    def forward(self, graph: Graph) -> Tensor:
        for block in self.blocks:
            graph = block(graph)
        return self.out(graph.x)


class LayerHead(nn.Module):
    """A bare message-passing layer as the head, as in Kipf & Welling's two-layer GCN."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, graph: Graph) -> Tensor:
        return self.layer(graph).x
