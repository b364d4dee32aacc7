"""GPS blocks: message passing along the edges beside attention between all nodes."""

from torch import nn

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import L2Norm
from gymspace.models.norms import Chain
from gymspace.models.parts import Parts
from gymspace.models.stages import Stage


class Attend(nn.Module):
    """An attention, which gives node features, as a change of the graph."""

    def __init__(self, attention: nn.Module):
        super().__init__()
        self.attention = attention

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.attention(graph))


class FeedForward(nn.Module):
    """A two-layer perceptron of twice the width, for each node by itself."""

    def __init__(self, dim: int, act: nn.Module, dropout: nn.Module):
        super().__init__()
        self.maps = nn.Sequential(nn.Linear(dim, 2 * dim), act, dropout, nn.Linear(2 * dim, dim))

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.maps(graph.x))


class Branch(nn.Module):
    """``norm(x + dropout(change(x)))``; with ``norm_first`` ``dropout(change(norm(x)))``."""

    def __init__(self, change: nn.Module, norm: Chain, dropout: nn.Module, norm_first: bool):
        super().__init__()
        self.change = change
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, graph: Graph) -> Graph:
        if self.norm_first:
            out = self.change(graph.with_x(self.norm(graph.x, graph.batch)))
            return out.with_x(self.dropout(out.x))
        out = self.change(graph)
        return out.with_x(self.norm(graph.x + self.dropout(out.x), graph.batch))


class GPSBlock(nn.Module):
    """Branches side by side on the same nodes, summed, then a feed-forward branch.

    Rampasek et al. 2022, "Recipe for a General, Powerful, Scalable Graph Transformer". Edge
    features go from branch to branch as each leaves them. With ``norm_first`` the block's input
    is added once to what the branches give, and that once more to what the feed-forward gives.
    """

    def __init__(self, branches: list[Branch], feed_forward: Branch, norm_first: bool = False):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.feed_forward = feed_forward
        self.norm_first = norm_first

    def forward(self, graph: Graph) -> Graph:
        x = graph.x
        outs = [x] if self.norm_first else []
        for branch in self.branches:
            graph = branch(graph.with_x(x))
            outs.append(graph.x)
        graph = graph.with_x(sum(outs[1:], outs[0]))
        out = self.feed_forward(graph)
        return out.with_x(graph.x + out.x) if self.norm_first else out

    def extra_repr(self) -> str:
        return "norm_first=True" if self.norm_first else ""


def make_gps_block(parts: Parts, dim: int) -> nn.Module:
    """A block of the design's layer (unless it changes no nodes) and its attention (if any).

    Raises:
        ConfigError: there is neither.
    """
    first = parts.spec.norm_first

    def branch(change: nn.Module) -> Branch:
        return Branch(change, parts.norm(dim), parts.dropout(), first)

    local, attention = parts.layer(dim, dim), parts.attention(dim)
    branches = []
    if "x" in getattr(local, "updates", frozenset({"x"})):
        branches.append(branch(local))
    if attention is not None:
        branches.append(branch(Attend(attention)))
    if not branches:
        raise ConfigError(
            "model.attention",
            f"a GPS block needs one, or another layer than model.layer={parts.spec.layer.label}",
            value=None,
        )
    forward = branch(FeedForward(dim, parts.act(), parts.dropout()))
    block = GPSBlock(branches, forward, first)
    return nn.Sequential(block, L2Norm()) if parts.spec.l2norm == "layer" else block


class GPS(Stage):
    """GPS blocks one after the other: [N, dim] -> [N, dim].

    Raises:
        ConfigError: ``dim_in`` is not ``dim``; the parts do not fit.
    """

    def __init__(
        self,
        dim_in: int,
        dim: int,
        layers: int,
        parts: Parts,
        jumping: str = "last",
        residual: bool = False,
    ):
        if dim_in != dim:
            raise ConfigError(
                "model.layers_pre_mp",
                f"a GPS block keeps its width, so features of width {dim_in} cannot become {dim}: "
                f"set 1 or more, or model.dim_inner={dim_in}",
                value=0,
            )
        super().__init__(
            dim_in, dim, layers, lambda _, width: make_gps_block(parts, width), jumping, residual
        )
