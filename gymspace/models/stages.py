"""Stages: how message-passing blocks follow each other, and what skips past them."""

import torch
from torch import nn

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import MakeBlock


class Stack(nn.Module):
    """Blocks one after the other: [N, dim_in] -> [N, dim]."""

    def __init__(self, dim_in: int, dim: int, layers: int, make_block: MakeBlock):
        super().__init__()
        widths = [self.width(i, dim_in, dim) for i in range(layers)]
        self.blocks = nn.ModuleList(make_block(width, dim) for width in widths)

    def width(self, index: int, dim_in: int, dim: int) -> int:
        """Width of what block ``index`` takes."""
        return dim if index else dim_in

    def forward(self, graph: Graph) -> Graph:
        for hop, block in enumerate(self.blocks):
            graph = block(graph.view(hop))
        return graph


class SkipSum(Stack):
    """Every block's input is added to its output."""

    def __init__(self, dim_in: int, dim: int, layers: int, make_block: MakeBlock):
        if layers and dim_in != dim:
            raise ConfigError(
                "model.stage",
                f"adds a block's input of width {dim_in} to its output of width {dim}: set "
                f"model.layers_pre_mp to 1 or more, or model.dim_inner to {dim_in}",
                value="skipsum",
            )
        super().__init__(dim_in, dim, layers, make_block)

    def forward(self, graph: Graph) -> Graph:
        for hop, block in enumerate(self.blocks):
            graph = graph.view(hop)
            graph = graph.with_x(graph.x + block(graph).x)
        return graph


class SkipConcat(Stack):
    """Every block but the last passes its input on beside its output."""

    def width(self, index: int, dim_in: int, dim: int) -> int:
        return dim_in + index * dim

    def forward(self, graph: Graph) -> Graph:
        for hop, block in enumerate(self.blocks):
            graph = graph.view(hop)
            out = block(graph)
            last = hop == len(self.blocks) - 1
            graph = out if last else out.with_x(torch.cat([graph.x, out.x], dim=-1))
        return graph
