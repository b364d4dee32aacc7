"""Small designs on the toy graphs, and a step of steepest descent on them."""

from typing import Any

import torch
from torch import Tensor, nn

from gymspace.graph.graph import Graph
from gymspace.models.model import Model, build_model
from gymspace.spec import ModelSpec
from tests.graph.toys import INDICES, features, weights

LABELS = torch.tensor([0, 1, 2, 0, 1, 2])


def toy_graph(edges: str = "awkward", width: int = 4, weighted: bool = False) -> Graph:
    index = INDICES[edges]
    return Graph.of(features(width), index, edge_weight=weights(index) if weighted else None)


def design(**model: Any) -> ModelSpec:
    return ModelSpec.model_validate({"dim_inner": 6, **model})


def build(dim_in: int = 4, dim_out: int = 3, seed: int = 0, **model: Any) -> Model:
    torch.manual_seed(seed)
    return build_model(design(**model), dim_in, dim_out).double()


def loss_of(model: nn.Module, graph: Graph) -> Tensor:
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
