"""A design's model: layers before, during and after message passing."""

from functools import partial

from torch import Tensor, nn

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import L2Norm, make_block, make_layer
from gymspace.models.heads import LayerHead
from gymspace.schema import Component
from gymspace.spec import ModelSpec


class Model(nn.Module):
    """Feature dropout, pre-MP blocks, a message-passing stage and a head: graph -> [N, dim_out]."""

    def __init__(self, body: nn.Sequential, head: nn.Module, feature_dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(feature_dropout)
        self.body = body
        self.head = head

    def forward(self, graph: Graph) -> Tensor:
        if self.training and self.dropout.p:
            graph = graph.dropout(self.dropout.p)
        return self.head(self.body(graph))


def build_model(spec: ModelSpec, dim_in: int, dim_out: int) -> Model:
    """Build ``spec`` for features of width ``dim_in`` and ``dim_out`` scores per node.

    ``layers_post_mp=0`` makes the last message-passing layer the head, without norm or activation.

    Raises:
        ConfigError: widths that do not fit, arguments that a component does not take.
    """
    linear = partial(make_block, spec, Component(name="linear"))
    passing = partial(make_block, spec, spec.layer)
    bare_head = spec.layers_post_mp == 0
    if bare_head and spec.layers_mp == 0:
        raise ConfigError("model.layers_post_mp", "needs model.layers_mp of 1 or more", value=0)

    body: list[nn.Module] = []
    width = dim_in
    for _ in range(spec.layers_pre_mp):
        body.append(linear(width, spec.dim_inner))
        width = spec.dim_inner
    if hops := spec.layers_mp - bare_head:
        body.append(registry.build("model.stage", spec.stage, width, spec.dim_inner, hops, passing))
        width = spec.dim_inner
        if spec.l2norm == "stage":
            body.append(L2Norm())
    if bare_head:
        head: nn.Module = LayerHead(make_layer(spec, spec.layer, width, dim_out, bias=True))
    else:
        head = registry.build("model.head", spec.head, width, dim_out, spec.layers_post_mp, linear)
    return Model(nn.Sequential(*body), head, spec.feature_dropout)
