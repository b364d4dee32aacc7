"""The parts of a design, for a stage that puts its blocks together itself."""

from dataclasses import dataclass

from torch import nn

from gymspace import registry
from gymspace.models.blocks import make_layer
from gymspace.models.known import Known
from gymspace.models.norms import Chain
from gymspace.spec import ModelSpec


@dataclass(frozen=True)
class Parts:
    """Makes each part anew at every call, as ``spec`` chooses it.

    Every method raises `ConfigError` for arguments that do not fit.
    """

    spec: ModelSpec
    known: Known

    def layer(self, dim_in: int, dim_out: int) -> nn.Module:
        """The bare message-passing layer, with a bias: graph -> graph."""
        return make_layer(self.spec, self.known, self.spec.layer, dim_in, dim_out, bias=True)

    def attention(self, dim: int) -> nn.Module | None:
        """Attention between nodes, graph -> x [N, dim]; None where the design has none.

        Its factory is offered ``edge_dim``.
        """
        if self.spec.attention is None:
            return None
        offered = {"edge_dim": self.known.edge_dim}
        return registry.build("model.attention", self.spec.attention, dim, **offered)

    def norm(self, dim: int) -> Chain:
        """The norm, to be called with x [N, dim] and the graph of each node [N] or None."""
        return Chain(registry.build("model.norm", self.spec.norm, dim))

    def act(self) -> nn.Module:
        """The activation."""
        return registry.build("model.act", self.spec.act)

    def dropout(self) -> nn.Module:
        """Dropout of node features."""
        return nn.Dropout(self.spec.dropout)
