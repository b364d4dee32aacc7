"""What is refused of a dataset before any trial runs, each in one line."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError

NEEDED = ("x", "edge_index", "y")
# What edges may carry, with the form and the number of dimensions it may have.
FORMS = MappingProxyType({"edge_attr": ("[edges, width]", 2), "edge_weight": ("[edges]", 1)})
OF_EDGES = tuple(FORMS)
# More classes than this, and than ten for each row, are numbers of something else.
CLASSES = 10_000


def check_fields(data: Data, label: str, where: str = "") -> None:
    """Refuse a graph without features, edges or labels in tensors; ``where`` says which it is."""
    for name in (*NEEDED, *OF_EDGES):
        value, problem = getattr(data, name, None), ""
        if value is None and name in NEEDED:
            hint = ": data.transform=[constant] adds some" if name == "x" else ""
            problem = f"has no {name}{hint}"
        elif value is not None and not isinstance(value, Tensor):
            problem = f"has {name} as a {type(value).__name__}, not a tensor"
        elif value is not None and value.is_complex():
            problem = f"has {name} of {value.dtype}, not real numbers"
        if problem:
            raise ConfigError("dataset", problem + where, value=label)


def check_classes(classes: int, y: Tensor, label: str) -> None:
    """Refuse class ids ``y`` [R] that can be none, as a score is computed for each of them."""
    if y.is_floating_point() or y.dim() != 1:
        return
    if (least := int(y.min())) < -1:
        problem = f"has a class id {least}: classes count from 0 on, and -1 says there is no label"
        raise ConfigError("dataset", problem, value=label)
    if classes > max(CLASSES, 10 * len(y)):
        problem = f"has class ids up to {classes - 1} for {len(y)} rows: number them from 0 on"
        raise ConfigError("dataset", problem, value=label)


def check_shapes(data: Data, label: str) -> None:
    """Refuse what would fail, or be read past its end, only once the trials run."""
    if problem := _odd_nodes(data):
        raise ConfigError("dataset", problem, value=label)
    shape = list(data.x.shape)
    if data.y.shape[:1] != data.x.shape[:1]:
        problem = f"has y of shape {list(data.y.shape)} for {shape[0]} nodes"
        raise ConfigError("dataset", problem, value=label)
    _check_edges(data, label)
    ends = data.edge_index
    if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < shape[0]:
        problem = f"has edges that end outside its {shape[0]} nodes"
        raise ConfigError("dataset", problem, value=label)
    for _, problem, _ in _odd_numbers(data):
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
        problem = _odd_nodes(graph) or _odd_width(graph, graphs[0])
        if problem:
            raise ConfigError("dataset", problem + where, value=label)
    of_nodes = any(len(graph.y) != 1 for graph in graphs)
    for number, graph in enumerate(graphs):
        problem, where = _odd_labels(graph, graphs[0], of_nodes), f" (graph {number})"
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
    for name, problem, row in _odd_numbers(data):
        of_rows = data.batch if len(data.y) == len(data.batch) else range(len(data.y))
        owner = {"x": data.batch, "y": of_rows}.get(name, graph_of_edge)
        raise ConfigError("dataset", f"{problem} (graph {int(owner[row])})", value=label)


def _odd_numbers(data: Data) -> Iterator[tuple[str, str, int]]:
    """Fields with numbers that nothing can be learnt from: name, problem and the first such row."""
    for name in ("x", "y", *OF_EDGES):
        value = getattr(data, name, None)
        if value is None or not value.is_floating_point():
            continue
        odd = value.isinf() if name == "y" else value.isfinite().logical_not_()
        if odd.any():
            what = "infinity" if name == "y" else "nan or infinity"
            row = int(odd.reshape(len(value), -1).any(1).nonzero()[0])
            yield name, f"has {name} with {what}", row


def _odd_nodes(graph: Data) -> str | None:
    """What keeps the features of the nodes of ``graph`` from being used."""
    shape = list(graph.x.shape)
    if len(shape) != 2:
        return f"has x of shape {shape}, not [nodes, width]"
    if not shape[0]:
        return "has no nodes (a graph without x must say its num_nodes)"
    if graph.x.layout != torch.strided:
        return f"has x as {graph.x.layout}: make it dense"
    return None if shape[1] else "has x of width 0: data.transform=[constant] adds a feature"


def _odd_width(graph: Data, first: Data) -> str | None:
    width, wanted = graph.x.size(1), first.x.size(1)
    return None if width == wanted else f"has x of width {width}, and the first graph of {wanted}"


def _odd_labels(graph: Data, first: Data, of_nodes: bool) -> str | None:
    """What keeps the labels of ``graph``, or of its nodes, from being those of a row each."""
    shape, rows = list(graph.y.shape), graph.x.size(0) if of_nodes else 1
    if len(shape) in (1, 2) and shape[0] == rows and shape[1:] == list(first.y.shape[1:]):
        return None
    problem = f"has y of shape {shape}, not [1] or [1, labels] in all graphs"
    return problem + (f", nor a row for each of its {rows} nodes" if of_nodes else "")


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
    for name, (form, dims) in FORMS.items():
        value = getattr(data, name, None)
        if value is None:
            continue
        deep = value.dim() > dims
        if deep or value.shape[:1] != ends.shape[1:]:
            problem = f"has {name} of shape {list(value.shape)} for {ends.size(1)} edges"
            problem += f", not {form}" if deep else ""
            raise ConfigError("dataset", problem + where, value=label)
