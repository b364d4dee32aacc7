"""Stages: how message-passing blocks follow each other, and what skips past them.

All that skips or jumps is node features; edge features go from block to block as each leaves them.
"""

import torch
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import MakeBlock

_JUMPS = {"concat": "cat", "max": "max"}


class Stage(nn.Module):
    """Blocks in groups of ``skip_every``: [N, dim_in] -> [N, dim_out].

    Where that does not divide their number, the last group has what is left. What a group takes
    may skip past it and is joined with its output (`join`). ``residual`` adds a block's input to
    its output where their widths are equal. ``jumping`` says what leaves the stage (Xu et al.
    2018): the last block's output, or that of all blocks, side by side (concat: ``dim_out`` is
    their number times ``dim``) or the largest of each feature (max).

    Block i sees view i of the graph, which may hold fewer rows: the first of those before.
    """

    def __init__(
        self,
        dim_in: int,
        dim: int,
        layers: int,
        make_block: MakeBlock,
        jumping: str = "last",
        residual: bool = False,
        skip_every: int = 1,
    ):
        super().__init__()
        if skip_every < 1:
            raise ConfigError("model.stage.skip_every", "must be 1 or more", value=skip_every)
        widths = [self.width(i, dim_in, dim, skip_every) for i in range(layers)]
        self.blocks = nn.ModuleList(make_block(width, dim) for width in widths)
        self.starts = [i % skip_every == 0 for i in range(layers)]
        self.ends = [*self.starts[1:], True]
        self.residual = [residual and width == dim for width in widths]
        many = layers > 1 and jumping in _JUMPS
        self.jump = JumpingKnowledge(_JUMPS[jumping]) if many else None
        self.dim = dim
        self.dim_out = layers * dim if many and jumping == "concat" else dim

    def width(self, index: int, dim_in: int, dim: int, skip_every: int) -> int:
        """Width of what block ``index`` takes."""
        return dim if index else dim_in

    def join(self, skipped: Graph, out: Graph, last: bool) -> Graph:
        """What leaves a group that took ``skipped`` and gave ``out``; its last columns are new."""
        return out

    def forward(self, graph: Graph) -> Graph:
        outs, skipped = [], graph
        for hop, block in enumerate(self.blocks):
            taken = graph.view(hop)
            skipped = taken if self.starts[hop] else skipped
            graph = block(taken)
            if self.residual[hop]:
                graph = _add(taken, graph)
            if self.ends[hop]:
                graph = self.join(skipped, graph, hop == len(self.blocks) - 1)
            if self.jump is not None:
                outs.append(graph.x[:, -self.dim :])
        if self.jump is None:
            return graph
        return graph.with_x(self.jump([x[: graph.x.size(0)] for x in outs]))

    def extra_repr(self) -> str:
        found = [hop for hop, adds in enumerate(self.residual) if adds]
        return f"residual={found}" if found else ""


class Stack(Stage):
    """Blocks one after the other; nothing skips but what ``residual`` asks for."""

    def __init__(
        self,
        dim_in: int,
        dim: int,
        layers: int,
        make_block: MakeBlock,
        jumping: str = "last",
        residual: bool = False,
    ):
        super().__init__(dim_in, dim, layers, make_block, jumping, residual)


class Skip(Stage):
    """A stage whose groups show in its text, so that designs built alike read alike."""

    def extra_repr(self) -> str:
        heads = [hop for hop, starts in enumerate(self.starts) if starts]
        groups = "" if all(self.starts) else f"groups from {heads}"
        return ", ".join(filter(None, (groups, super().extra_repr())))


class SkipSum(Skip):
    """A group's input is added to its output.

    Where the group is one block, ``residual`` would add the same again and is left out.
    """

    def __init__(
        self,
        dim_in: int,
        dim: int,
        layers: int,
        make_block: MakeBlock,
        jumping: str = "last",
        residual: bool = False,
        skip_every: int = 1,
    ):
        if layers and dim_in != dim:
            raise ConfigError(
                "model.stage",
                f"adds a block's input of width {dim_in} to its output of width {dim}: set "
                f"model.layers_pre_mp to 1 or more, or model.dim_inner to {dim_in}",
                value="skipsum",
            )
        super().__init__(dim_in, dim, layers, make_block, jumping, residual, skip_every)
        alone = [a and b for a, b in zip(self.starts, self.ends, strict=True)]
        self.residual = [adds and not one for adds, one in zip(self.residual, alone, strict=True)]

    def join(self, skipped: Graph, out: Graph, last: bool) -> Graph:
        return _add(skipped, out)


class SkipConcat(Skip):
    """Every group but the last passes its input on beside its output."""

    def width(self, index: int, dim_in: int, dim: int, skip_every: int) -> int:
        return dim if index % skip_every else dim_in + index // skip_every * dim

    def join(self, skipped: Graph, out: Graph, last: bool) -> Graph:
        return out if last else out.with_x(torch.cat([_rows(skipped, out), out.x], dim=-1))


def _add(earlier: Graph, later: Graph) -> Graph:
    return later.with_x(_rows(earlier, later) + later.x)


def _rows(earlier: Graph, later: Graph) -> Tensor:
    """Features of ``earlier`` for the nodes that ``later`` still has."""
    return earlier.x[: later.x.size(0)]
