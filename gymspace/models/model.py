"""A design's model: layers before, during and after message passing."""

from functools import partial

from torch import Tensor, nn

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import (
    DropEdge,
    FinalNorm,
    L2Norm,
    MakeBlock,
    make_block,
    make_layer,
    norm_of,
)
from gymspace.models.heads import LayerHead
from gymspace.models.inputs import Inputs, make_inputs
from gymspace.models.known import Known
from gymspace.models.norms import by_graph
from gymspace.models.parts import Parts
from gymspace.schema import Component
from gymspace.spec import ModelSpec

_NOTHING = Known()


class Model(nn.Module):
    """Inputs, feature dropout, pre-MP blocks, a stage and a head: graph -> [N or G, dim_out].

    ``inputs`` is None where the layers take features as they are.
    """

    def __init__(
        self,
        body: nn.Sequential,
        head: nn.Module,
        feature_dropout: float,
        inputs: Inputs | None = None,
    ):
        super().__init__()
        self.inputs = inputs
        self.dropout = nn.Dropout(feature_dropout)
        self.body = body
        self.head = head

    def forward(self, graph: Graph) -> Tensor:
        if self.inputs is not None:
            graph = self.inputs(graph)
        if self.training and self.dropout.p:
            graph = graph.dropout(self.dropout.p)
        return self.head(self.body(graph))


def build_model(spec: ModelSpec, dim_in: int, dim_out: int, known: Known = _NOTHING) -> Model:
    """Build ``spec`` for features of width ``dim_in`` and ``dim_out`` scores per node or graph.

    Where blocks norm what they take (``norm_first``), what leaves the stage is normed once more,
    unless ``l2norm`` does. ``layers_post_mp=0`` makes the last message-passing layer the head,
    without norm or activation; where graphs are scored, it is offered to the head as ``last``.

    Raises:
        ConfigError: widths that do not fit, arguments that a component does not take.
    """
    inputs, width, known = make_inputs(spec, dim_in, known)
    linear = partial(make_block, spec, known, Component(name="linear"))
    passing = partial(make_block, spec, known, spec.layer)
    _check_level(spec, known)
    bare_head = spec.layers_post_mp == 0
    if bare_head and spec.layers_mp == 0:
        raise ConfigError("model.layers_post_mp", "needs model.layers_mp of 1 or more", value=0)

    # First of all, so that one draw is that of all layers, a bare head among them.
    body: list[nn.Module] = [DropEdge(spec.drop_edge)] if spec.drop_edge and spec.layers_mp else []
    for _ in range(spec.layers_pre_mp):
        body.append(linear(width, spec.dim_inner))
        width = spec.dim_inner
    if hops := spec.layers_mp - bare_head:
        stage = _stage(spec, known, width, hops, passing)
        body.append(stage)
        width = getattr(stage, "dim_out", spec.dim_inner)
        if spec.l2norm == "stage":
            body.append(L2Norm())
        elif spec.norm_first and spec.norm.name != "none":
            body.append(FinalNorm(norm_of(spec, width)))
    last = None
    if bare_head:
        bare = make_layer(spec, known, spec.layer, width, dim_out, bias=True, scores=True)
        last = LayerHead(bare, hop=spec.layers_mp - 1)
    head = _head(spec, known, width, dim_out, last)
    if inputs is not None:
        inputs.settle([*body, head])
    return Model(nn.Sequential(*body), head, spec.feature_dropout, inputs)


def _check_level(spec: ModelSpec, known: Known) -> None:
    level = getattr(registry.factory("model.head", spec.head.name), "level", known.level)
    if level != known.level:
        problem = f"scores {level}s, and the dataset has a label for each {known.level}"
        raise ConfigError(
            "model.head", f"{problem}: set model.head={known.level}", value=spec.head.label
        )


def _head(
    spec: ModelSpec, known: Known, width: int, dim_out: int, last: nn.Module | None
) -> nn.Module:
    """The head; ``last`` itself where it scores what is asked for.

    Its blocks come after pooling where graphs are scored: a row is then a graph, so norms that go
    by graph are left out of them.
    """
    if last is not None and known.level == "node":
        return last
    if known.level == "graph" and by_graph(registry.build("model.norm", spec.norm, width)):
        spec = spec.model_copy(update={"norm": Component(name="none")})
    make = partial(make_block, spec, known, Component(name="linear"))
    layers = spec.layers_post_mp
    return registry.build("model.head", spec.head, width, dim_out, layers, make, last=last)


def _stage(
    spec: ModelSpec, known: Known, width: int, layers: int, make_block: MakeBlock
) -> nn.Module:
    """The stage; its factory is offered ``make_block``, ``parts``, ``jumping`` and ``residual``.

    ``make_block`` makes the design's blocks; ``parts`` what a stage of its own blocks needs.

    It says its width as ``dim_out`` where that is not ``model.dim_inner``.
    """
    offered = {
        "make_block": make_block,
        "parts": Parts(spec, known),
        "jumping": spec.jumping,
        "residual": spec.residual,
    }
    return registry.build("model.stage", spec.stage, width, spec.dim_inner, layers, **offered)
