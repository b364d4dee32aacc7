"""What is refused of a dataset before any trial runs, each in one line."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError

NEEDED = ("x", "edge_index", "y")
OF_EDGES = ("edge_attr", "edge_weight")


def check_fields(data: Data, label: str, where: str = "") -> None:
    """Refuse a graph without features, edges or labels; ``where`` names it among others."""
    for name in NEEDED:
        if getattr(data, name, None) is None:
            hint = ": data.transform=[constant] adds some" if name == "x" else ""
            raise ConfigError("dataset", f"has no {name}{hint}{where}", value=label)


def check_shapes(data: Data, label: str) -> None:
    """Refuse what would fail, or be read past its end, only once the trials run."""
    shape = list(data.x.shape)
    if len(shape) != 2:
        raise ConfigError("dataset", f"has x of shape {shape}, not [nodes, width]", value=label)
    if data.x.layout != torch.strided:
        raise ConfigError("dataset", f"has x as {data.x.layout}: make it dense", value=label)
    if not data.x.isfinite().all():
        raise ConfigError("dataset", "has x with nan or infinity", value=label)
    if data.y.shape[:1] != data.x.shape[:1]:
        problem = f"has y of shape {list(data.y.shape)} for {shape[0]} nodes"
        raise ConfigError("dataset", problem, value=label)
    _check_edges(data, label)
    ends = data.edge_index
    if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < shape[0]:
        problem = f"has edges that end outside its {shape[0]} nodes"
        raise ConfigError("dataset", problem, value=label)


def check_graphs(graphs: Sequence[Data], label: str) -> None:
    """Refuse graphs that cannot be put together: other widths, labels of another shape, no nodes.

    Raises:
        ConfigError: what is wrong with the first graph at fault, which is named by its number.
    """
    if not graphs:
        raise ConfigError("dataset", "has no graphs", value=label)
    for number, graph in enumerate(graphs):
        where = f" (graph {number})"
        check_fields(graph, label, where)
        _check_edges(graph, label, where)
        problem = _odd_nodes(graph, graphs[0]) or _odd_labels(graph, graphs[0])
        if problem:
            raise ConfigError("dataset", problem + where, value=label)
    for name in OF_EDGES:
        _check_alike(graphs, name, label)


def check_ends(data: Data, graph_of_edge: Tensor, starts: Tensor, label: str) -> None:
    """Refuse graphs put together, ``starts`` [G + 1], with edges outside their own or odd numbers.

    An edge that leaves its graph would end in another one.
    """
    inside = (data.edge_index >= starts[graph_of_edge]) & (
        data.edge_index < starts[graph_of_edge + 1]
    )
    if not inside.all():
        number = int(graph_of_edge[~inside.all(0)][0])
        nodes = int(starts[number + 1] - starts[number])
        problem = f"has edges that end outside its {nodes} nodes (graph {number})"
        raise ConfigError("dataset", problem, value=label)
    finite = data.x.isfinite().all(1)
    if not finite.all():
        number = int(data.batch[~finite][0])
        raise ConfigError("dataset", f"has x with nan or infinity (graph {number})", value=label)


def _odd_nodes(graph: Data, first: Data) -> str | None:
    """What keeps the nodes of ``graph`` from standing beside those of the ``first`` one."""
    shape = list(graph.x.shape)
    if len(shape) != 2:
        return f"has x of shape {shape}, not [nodes, width]"
    if not shape[0]:
        return "has no nodes (a graph without x must say its num_nodes)"
    if graph.x.layout != torch.strided:
        return f"has x as {graph.x.layout}: make it dense"
    if shape[1] != first.x.size(1):
        return f"has x of width {shape[1]}, and the first graph of {first.x.size(1)}"
    return None


def _odd_labels(graph: Data, first: Data) -> str | None:
    shape = list(graph.y.shape)
    if len(shape) in (1, 2) and shape[0] == 1 and shape[1:] == list(first.y.shape[1:]):
        return None
    problem = f"has y of shape {shape}, not [1] or [1, labels] in all graphs"
    if shape[:1] == [graph.x.size(0)]:
        problem += ": labels of nodes are learnt on a single graph"
    return problem


def _check_alike(graphs: Sequence[Data], name: str, label: str) -> None:
    """Refuse edge data that some graphs with edges lack, or that differs in width.

    A graph without edges need not have any.
    """
    found = {
        n: value for n, g in enumerate(graphs) if (value := getattr(g, name, None)) is not None
    }
    lacking = [n for n, g in enumerate(graphs) if n not in found and g.edge_index.numel()]
    if found and lacking:
        problem = f"has edges without {name} (graph {lacking[0]}), and others have some"
        raise ConfigError("dataset", problem, value=label)
    widths = {n: list(value.shape[1:]) for n, value in found.items()}
    for number, width in widths.items():
        if width != (first := next(iter(widths.values()))):
            problem = f"has {name} of width {width} (graph {number}), and before of {first}"
            raise ConfigError("dataset", problem, value=label)


def _check_edges(data: Data, label: str, where: str = "") -> None:
    ends = data.edge_index
    if ends.dim() != 2 or ends.size(0) != 2 or ends.dtype not in (torch.int64, torch.int32):
        problem = f"has edge_index of {ends.dtype} {list(ends.shape)}, not whole numbers [2, edges]"
        raise ConfigError("dataset", problem + where, value=label)
    for name in OF_EDGES:
        value: Any = getattr(data, name, None)
        if isinstance(value, Tensor) and value.shape[:1] != ends.shape[1:]:
            problem = f"has {name} of shape {list(value.shape)} for {ends.size(1)} edges"
            raise ConfigError("dataset", problem + where, value=label)
