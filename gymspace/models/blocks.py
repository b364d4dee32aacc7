"""A block: layer, norm, dropout, activation, and L2 norm where each layer has one."""

from collections.abc import Callable

from torch import nn
from torch.nn import functional

from gymspace import registry
from gymspace.graph.graph import Graph
from gymspace.models.layers import adapt
from gymspace.schema import Component
from gymspace.spec import ModelSpec

MakeBlock = Callable[[int, int], nn.Module]


class Block(nn.Module):
    """Layer, then norm, dropout and activation in GraphGym's order."""

    def __init__(self, layer: nn.Module, post: nn.Sequential, l2norm: bool):
        super().__init__()
        self.layer = layer
        self.post = post
        self.l2norm = l2norm

    def forward(self, graph: Graph) -> Graph:
        graph = self.layer(graph)
        x = self.post(graph.x)
        return graph.with_x(functional.normalize(x, dim=-1) if self.l2norm else x)

    def extra_repr(self) -> str:
        return "l2norm=True" if self.l2norm else ""


class L2Norm(nn.Module):
    """Scales every node's features to length one."""

    def forward(self, graph: Graph) -> Graph:
        return graph.with_x(functional.normalize(graph.x, dim=-1))


def no_norm(dim: int) -> nn.Module:
    """The norm that is none."""
    return nn.Identity()


def make_layer(
    spec: ModelSpec, layer: Component, dim_in: int, dim_out: int, bias: bool
) -> nn.Module:
    """The bare layer, with its aggregation if it takes one (``model.agg``, or the layer's own)."""
    default = getattr(registry.factory("model.layer", layer.name), "default_agg", "add")
    agg = registry.build("model.agg", spec.agg or Component(name=default))
    return adapt(registry.build("model.layer", layer, dim_in, dim_out, bias=bias, agg=agg))


def make_block(spec: ModelSpec, layer: Component, dim_in: int, dim_out: int) -> nn.Module:
    """A block around ``layer``, [N, dim_in] -> [N, dim_out]; a norm replaces the bias."""
    bias = spec.norm.name == "none"
    parts = [
        registry.build("model.norm", spec.norm, dim_out),
        nn.Dropout(spec.dropout),
        registry.build("model.act", spec.act),
    ]
    post = nn.Sequential(*[part for part in parts if not _idle(part)])
    return Block(make_layer(spec, layer, dim_in, dim_out, bias), post, spec.l2norm == "layer")


def _idle(part: nn.Module) -> bool:
    return isinstance(part, nn.Identity) or (isinstance(part, nn.Dropout) and part.p == 0)
