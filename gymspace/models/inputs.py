"""What a model does before its layers: encoders, and encodings beside the node features."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch
from torch import nn

from gymspace import registry
from gymspace.encodings.cache import make
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.known import Known
from gymspace.models.layer import edge_features
from gymspace.schema import Component
from gymspace.spec import ModelSpec


class Inputs(nn.Module):
    """Encodes nodes and edges, and puts the features of encodings beside those of the nodes."""

    def __init__(
        self,
        node: nn.Module | None,
        edge: nn.Module | None,
        encodings: Sequence[nn.Module],
        edge_dim: int,
    ):
        super().__init__()
        self.node = node
        self.edge = edge
        self.encodings = nn.ModuleList(encodings)
        self.edge_dim = edge_dim
        self._read = True

    @property
    def idle(self) -> bool:
        """Whether there is an edge encoder that no layer reads from."""
        return self.edge is not None and not self._read

    def settle(self, layers: Iterable[nn.Module]) -> None:
        """Learn what follows: an edge encoder that none of ``layers`` reads is not trained.

        Ranks that step together would wait for its gradients.
        """
        parts = (part for layer in layers for part in layer.modules())
        self._read = any("edge_attr" in getattr(part, "uses", ()) for part in parts)
        if self.edge is not None and not self._read:
            self.edge.requires_grad_(False)

    def forward(self, graph: Graph) -> Graph:
        if self.edge is not None:
            attr = edge_features(graph, self.edge_dim)
            graph = graph.with_links(attr=self.edge(attr.reshape(-1, self.edge_dim)))
        (store,) = graph.nodes.values()
        if self.node is None and not self.encodings:
            return graph  # so that sparse features stay so
        own = graph.x if self.node is None else self.node(store.features)
        return graph.with_x(torch.cat([own, *(part(graph) for part in self.encodings)], dim=-1))


def make_inputs(spec: ModelSpec, dim_in: int, known: Known) -> tuple[Inputs | None, int, Known]:
    """The inputs of a design (None if it takes features as they are), and what layers then meet.

    That is the width of the node features, and ``known`` with that of the encoded edge features.

    Raises:
        ConfigError: features that an encoder cannot take, arguments that do not fit.
    """
    node = edge = None
    width, edge_dim = dim_in, known.edge_dim
    if spec.node_encoder is not None:
        offered = {"dim_inner": spec.dim_inner, "levels": known.node_levels}
        node = registry.build("model.node_encoder", spec.node_encoder, dim_in, **offered)
        width = _width("model.node_encoder", spec.node_encoder, node)
    if spec.edge_encoder is not None:
        if edge_dim is None:
            problem = "the graph has no edge features (edge_attr)"
            raise ConfigError("model.edge_encoder", problem, value=spec.edge_encoder.label)
        offered = {"dim_inner": spec.dim_inner, "levels": known.edge_levels}
        edge = registry.build("model.edge_encoder", spec.edge_encoder, edge_dim, **offered)
        known = replace(known, edge_dim=_width("model.edge_encoder", spec.edge_encoder, edge))
    encodings = [make(part, known.nodes) for part in known.encodings]
    width += sum(part.dim for part in encodings)
    if node is None and edge is None and not encodings:
        return None, width, known
    return Inputs(node, edge, encodings, edge_dim or 0), width, known


def _width(key: str, component: Component, encoder: nn.Module) -> int:
    width = getattr(encoder, "dim_out", None)
    if not isinstance(width, int):
        raise ConfigError(key, "does not say its width (dim_out)", value=component.label)
    return width
