"""What a layer declares, and the checks that layers share."""

from collections.abc import Collection
from typing import Any

from torch import Tensor, nn

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.known import Known

EDGE_ATTR = frozenset({"edge_attr"})
EDGE_WEIGHT = frozenset({"edge_weight"})
POSITIONS = frozenset({"positions"})
NO_EDGE_FEATURES = "needs edge features, and the graph has none (edge_attr)"


class Layer(nn.Module):
    """Says what it reads besides node features and edges, what it changes, and what it must have.

    ``uses`` may name edge_attr, edge_weight and positions; of an object it is what its arguments
    leave of that. ``updates`` may name x and edge_attr; ``needs`` edge_dim, degrees, identity.
    """

    uses: frozenset[str] = frozenset()
    updates: frozenset[str] = frozenset({"x"})
    needs: frozenset[str] = frozenset()


def check_needs(needs: Collection[str], known: Known, layer: str) -> None:
    """Raise `ConfigError` if ``layer`` needs edge features or degrees that are not ``known``."""
    if "edge_dim" in needs and known.edge_dim is None:
        raise ConfigError("model.layer", NO_EDGE_FEATURES, value=layer)
    if "degrees" in needs and known.degrees is None:
        raise ConfigError("model.layer", "needs to know the nodes' degrees", value=layer)


def chosen(name: str, value: str, choices: Collection[str]) -> str:
    """``value`` of the layer's argument ``name``, or `ConfigError` if it is none of ``choices``."""
    if value not in choices:
        raise ConfigError(f"model.layer.{name}", "unknown choice", value=value, choices=choices)
    return value


def share(name: str, parts: int, width: int) -> int:
    """Width of each of ``parts`` (heads, towers) that are side by side in ``width``."""
    if parts < 1 or width % parts:
        raise ConfigError(
            f"model.layer.{name}", f"must divide the layer's width {width}", value=parts
        )
    return width // parts


def heads_of(heads: int, width: int, scores: bool) -> dict[str, Any]:
    """How a convolution of PyG has ``heads``: side by side in ``width``, averaged for ``scores``.

    Velickovic et al. 2018 average the heads of a last layer, which need not divide its width.
    """
    part = width if scores else share("heads", heads, width)
    return {
        "out_channels": part,
        "heads": at_least("heads", heads, 1),
        "concat": not scores,
    }


def at_least(name: str, value: int, least: int) -> int:
    """``value`` of the layer's argument ``name``, or `ConfigError` if it is below ``least``."""
    if value < least:
        raise ConfigError(f"model.layer.{name}", f"must be {least} or more", value=value)
    return value


def dropped(value: float) -> float:
    """``value`` of the layer's argument ``dropout``, or `ConfigError` if it is no probability."""
    if not 0 <= value <= 1:
        raise ConfigError("model.layer.dropout", "must be between 0 and 1", value=value)
    return value


def weighing(agg: nn.Module) -> frozenset[str]:
    """Edge weights, if ``agg`` uses them (one that does not say is taken to)."""
    return EDGE_WEIGHT & getattr(agg, "uses", EDGE_WEIGHT)


def edge_features(graph: Graph, dim: int) -> Tensor:
    """Features [E, dim] of the edges; [0, dim] where there are neither edges nor features.

    Raises:
        ConfigError: edges without features, where the model was built for some.
    """
    attr, edges = graph.links.attr, graph.links.index.size(1)
    if attr is None and edges == 0:
        return graph.x.new_zeros(0, dim)
    if attr is None:
        raise ConfigError("dataset", f"has a graph of {edges} edges without features (edge_attr)")
    return attr
