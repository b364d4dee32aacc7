"""A block: layer, norm, dropout, activation, and L2 norm where each layer has one."""

from collections.abc import Callable

from torch import nn
from torch.nn import functional
from torch_geometric.utils import dropout_edge

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.known import Known
from gymspace.models.layer import check_needs
from gymspace.models.layers import adapt
from gymspace.models.norms import Chain
from gymspace.schema import Component
from gymspace.spec import ModelSpec

MakeBlock = Callable[[int, int], nn.Module]


class Block(nn.Module):
    """Layer, then norm, dropout and activation in GraphGym's order; ``pre`` comes before them."""

    def __init__(self, layer: nn.Module, post: Chain, l2norm: bool, pre: Chain | None = None):
        super().__init__()
        self.pre = pre
        self.layer = layer
        self.post = post
        self.l2norm = l2norm

    def forward(self, graph: Graph) -> Graph:
        if self.pre is not None:
            graph = graph.with_x(self.pre(graph.x, graph.batch))
        graph = self.layer(graph)
        x = self.post(graph.x, graph.batch)
        return graph.with_x(functional.normalize(x, dim=-1) if self.l2norm else x)

    def extra_repr(self) -> str:
        return "l2norm=True" if self.l2norm else ""


class L2Norm(nn.Module):
    """Scales every node's features to length one."""

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(functional.normalize(graph.x, dim=-1))


class FinalNorm(nn.Module):
    """Norms what leaves a stage whose blocks norm only what they take."""

    def __init__(self, norm: nn.Module):
        super().__init__()
        self.norm = Chain(norm)

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(self.norm(graph.x, graph.batch))


class DropEdge(nn.Module):
    """In training, leaves out each edge with probability ``p`` (Rong et al. 2020).

    Drawn anew at every call. The two directions of an undirected edge are drawn apart, and what
    was prepared from all edges stays with the graph that has them.
    """

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, graph: Graph) -> Graph:
        if not self.training:
            return graph
        index, kept = dropout_edge(graph.links.index, self.p)
        data = {"attr": graph.links.attr, "weight": graph.links.weight}
        left = {name: value[kept] for name, value in data.items() if value is not None}
        return graph.with_links(index=index, **left)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def make_layer(
    spec: ModelSpec,
    known: Known,
    layer: Component,
    dim_in: int,
    dim_out: int,
    bias: bool,
    scores: bool = False,
) -> nn.Module:
    """The bare layer; its factory is offered ``bias``, ``agg``, ``edge_dim`` and ``degrees``.

    ``agg`` is that of ``model.agg``, or the layer's own; ``scores``: nothing comes after it.

    Raises:
        ConfigError: the layer needs what is not ``known``, or its arguments do not fit.
    """
    make = registry.factory("model.layer", layer.name)
    check_needs(getattr(make, "needs", frozenset()), known, layer.name)
    default = getattr(make, "default_agg", "add")
    offered = {
        "bias": bias,
        "scores": scores,
        "agg": registry.build("model.agg", spec.agg or Component(name=default)),
        "edge_dim": known.edge_dim,
        "degrees": known.degrees,
    }
    return adapt(registry.build("model.layer", layer, dim_in, dim_out, **offered))


def make_block(
    spec: ModelSpec, known: Known, layer: Component, dim_in: int, dim_out: int
) -> nn.Module:
    """A block around ``layer``, [N, dim_in] -> [N, dim_out]; a norm behind it replaces the bias.

    With ``model.norm_first`` the norm is that of the block's input.

    Raises:
        ConfigError: the layer's or the norm's arguments do not fit, or the norm leaves nothing.
    """
    first = spec.norm_first
    norm = norm_of(spec, dim_in) if first else registry.build("model.norm", spec.norm, dim_out)
    parts = [nn.Dropout(spec.dropout), registry.build("model.act", spec.act)]
    parts = [part for part in (parts if first else [norm, *parts]) if not _idle(part)]
    bias = first or spec.norm.name == "none"
    return Block(
        make_layer(spec, known, layer, dim_in, dim_out, bias),
        Chain(*parts),
        spec.l2norm == "layer",
        Chain(norm) if first and not _idle(norm) else None,
    )


def norm_of(spec: ModelSpec, dim: int) -> nn.Module:
    """The norm of what a block takes, or the head.

    Raises:
        ConfigError: its arguments do not fit, or it leaves nothing.
    """
    norm = registry.build("model.norm", spec.norm, dim)
    if dim == 1 and isinstance(norm, nn.LayerNorm):
        problem = "norms every node's features, and makes the same of all where there is one: set"
        raise ConfigError("model.norm", f"{problem} model.norm_first=false", value=spec.norm.label)
    return norm


def _idle(part: nn.Module) -> bool:
    return isinstance(part, nn.Identity) or (isinstance(part, nn.Dropout) and part.p == 0)
