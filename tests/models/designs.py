"""Small designs on the toy graphs, and a step of steepest descent on them."""

from typing import Any

import torch
from torch import Tensor, nn

from gymspace.graph.graph import Graph
from gymspace.models.known import Known
from gymspace.models.model import Model, build_model
from gymspace.spec import ModelSpec
from tests.graph.toys import INDICES, features, weights

LABELS = torch.tensor([0, 1, 2, 0, 1, 2])
UNKNOWN = Known()
# What is known of the awkward graph with two edge features: three nodes have no in-neighbour.
KNOWN = Known(edge_dim=2, degrees=torch.tensor([3, 0, 2, 1]))


def toy_graph(edges: str = "awkward", width: int = 4, weighted: bool = False) -> Graph:
    index = INDICES[edges]
    return Graph.of(features(width), index, edge_weight=weights(index) if weighted else None)


def rich_graph(edges: str = "awkward", width: int = 4, weighted: bool = False) -> Graph:
    """The toy graph with edge features and identity nodes, for layers that need them."""
    graph = toy_graph(edges, width, weighted)
    attr = features(14, seed=2).view(-1)[: 2 * graph.links.index.size(1)].view(-1, 2)
    marks = torch.tensor([True, False, False, True, False, True])
    return graph.with_links(attr=attr).with_encodings({"identity": marks})


def design(**model: Any) -> ModelSpec:
    return ModelSpec.model_validate({"dim_inner": 6, **model})


def build(
    dim_in: int = 4, dim_out: int = 3, seed: int = 0, known: Known = UNKNOWN, **model: Any
) -> Model:
    torch.manual_seed(seed)
    return build_model(design(**model), dim_in, dim_out, known).double()


def loss_of(model: nn.Module, graph: Graph) -> Tensor:
    torch.manual_seed(0)  # what is drawn in training is drawn alike each time
    return nn.functional.cross_entropy(model(graph), LABELS)


def descend(model: nn.Module, graph: Graph, length: float = 1e-3) -> tuple[float, float]:
    """The loss before and after a step of ``length`` against the gradient."""
    before = loss_of(model, graph)
    learnt = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(before, learnt)
    norm = torch.stack([g.square().sum() for g in grads]).sum().sqrt()
    with torch.no_grad():
        for parameter, grad in zip(learnt, grads, strict=True):
            parameter -= length * grad / norm
        return float(before), float(loss_of(model, graph))
