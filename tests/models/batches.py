"""Random graphs apart and in a batch, and attentions that look at them."""

from typing import Any

import torch
from torch import Tensor, nn

from gymspace import registry, tables
from gymspace.graph.graph import Graph
from gymspace.schema import Component

WIDTH = 8
EDGE_WIDTH = 3
SIZES = (5, 1, 37, 12)
ATTENTIONS = tuple(tables.ATTENTIONS)


def random_graph(nodes: int, seed: int = 0, attr: bool = False) -> Graph:
    draws = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, WIDTH, generator=draws, dtype=torch.float64)
    index = torch.randint(nodes, (2, 2 * nodes), generator=draws)
    edges = torch.randn(2 * nodes, EDGE_WIDTH, generator=draws, dtype=torch.float64)
    return Graph.of(x, index, edge_attr=edges if attr else None)


def random_graphs(attr: bool = False) -> list[Graph]:
    return [random_graph(nodes, seed, attr) for seed, nodes in enumerate(SIZES)]


def together(graphs: list[Graph]) -> Graph:
    """The graphs as one batch."""
    counts = torch.tensor([graph.x.size(0) for graph in graphs])
    starts = (counts.cumsum(0) - counts).tolist()
    index = [graph.links.index + start for graph, start in zip(graphs, starts, strict=True)]
    attr = [graph.links.attr for graph in graphs if graph.links.attr is not None]
    return Graph.of(
        torch.cat([graph.x for graph in graphs]),
        torch.cat(index, dim=1),
        edge_attr=torch.cat(attr) if attr else None,
        batch=torch.arange(len(graphs)).repeat_interleave(counts),
    )


def permuted(graph: Graph, order: Tensor) -> Graph:
    """The same graph with node ``order[i]`` in place i."""
    return Graph.of(graph.x[order], order.argsort()[graph.links.index])


def attention(name: str, edge_dim: int | None = None, **args: Any) -> nn.Module:
    torch.manual_seed(0)
    component = Component.model_validate({"name": name, "heads": 2, **args})
    return registry.build("model.attention", component, WIDTH, edge_dim=edge_dim).double()


def by_pairs(module: nn.Module, graph: Graph, bias: Tensor) -> Tensor:
    """Softmax attention with a bias [heads or 1, N, N], written out for one graph."""
    query, key, value = module.heads.split(graph.x)
    scores = torch.einsum("ihd,jhd->hij", query, key) * query.size(-1) ** -0.5 + bias
    mixed = torch.einsum("hij,jhd->ihd", scores.softmax(-1), value)
    return module.heads.join(mixed)


def visible(seen: Tensor) -> Tensor:
    """The bias [1, N, N] that hides what ``seen`` [N, N] leaves out."""
    return torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, float("-inf"))[None]
