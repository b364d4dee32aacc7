"""NetworkX graphs as PyG's `Data`, by the names of their attributes."""

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from gymspace.errors import ConfigError
from gymspace.graph.rows import PARTS

LABEL = ("y", "label")
FEATURES = ("x", "features")
# Attributes of an edge, and what they become.
OF_EDGES = MappingProxyType(
    {
        "edge_attr": ("edge_attr", *FEATURES),
        "edge_weight": ("weight",),
        "edge_time": ("time",),
    }
)
Carriers = Sequence[tuple[str, Mapping[str, Any]]]  # what has attributes: its words, and these


def as_pyg(found: Any, label: str) -> Any:
    """``found`` with NetworkX graphs, alone or in a list, as `Data`; all else as it is.

    Node attributes ``x`` (or ``features``: a number or several), ``y`` (or ``label``) and ``split``
    become x, y and masks; edge attributes ``edge_attr``, ``weight`` and ``time`` those of edges. A
    graph has the attributes ``y`` and ``split`` where graphs are learnt. Labels of text are classes
    in alphabetical order, kept in ``classes``. An edge of an undirected graph stands in both
    directions. PyG's own `from_networkx` wants the same attributes on all nodes, so that none could
    be without a label.

    Raises:
        ConfigError: a typed graph, no nodes, or attributes that do not go together.
    """
    if isinstance(found, HeteroData):
        problem = (
            "gives a HeteroData, and typed graphs are not taken: to_homogeneous() makes a Data"
        )
        raise ConfigError("dataset", problem, value=label)
    if isinstance(found, nx.Graph):
        return _converted([found], label)[0]
    several = isinstance(found, list | tuple) and len(found) > 0
    if several and all(isinstance(graph, nx.Graph) for graph in found):
        return _converted(found, label)
    return found


def _converted(graphs: Sequence[nx.Graph], label: str) -> list[Data]:
    made = [_structure(graph, label) for graph in graphs]
    nodes = [(f"node {n!r}", attrs) for graph in graphs for n, attrs in graph.nodes(data=True)]
    sizes = [graph.number_of_nodes() for graph in graphs]
    x = _stacked(nodes, FEATURES, label)
    for data, part in zip(made, x.split(sizes) if x is not None else (), strict=False):
        data.x = part.unsqueeze(1) if part.dim() == 1 else part
    of_graphs = [(f"graph {n}", graph.graph) for n, graph in enumerate(graphs)]
    if _has(nodes, LABEL):
        _learn(made, nodes, sizes, label)
    elif _has(of_graphs, LABEL):
        _learn(made, of_graphs, [1] * len(graphs), label)
    return made


def _structure(graph: nx.Graph, label: str) -> Data:
    """Nodes in their order, edges in theirs, and what edges carry."""
    if not graph:
        raise ConfigError("dataset", "gives a NetworkX graph without nodes", value=label)
    number = {node: n for n, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    if not graph.is_directed():
        edges += [(v, u, attrs) for u, v, attrs in edges if u != v]
    ends = [[number[u] for u, _, _ in edges], [number[v] for _, v, _ in edges]]
    data = Data(edge_index=torch.tensor(ends, dtype=torch.int64), num_nodes=len(number))
    carried = [(f"edge {u!r} - {v!r}", attrs) for u, v, attrs in edges]
    for name, keys in OF_EDGES.items():
        if (values := _stacked(carried, keys, label)) is not None:
            data[name] = values
    return data


def _get(attrs: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((attrs[key] for key in keys if attrs.get(key) is not None), None)


def _has(carriers: Carriers, keys: Sequence[str]) -> bool:
    return any(_get(attrs, keys) is not None for _, attrs in carriers)


def _stacked(carriers: Carriers, keys: Sequence[str], label: str) -> Tensor | None:
    """An attribute of all as a tensor [R] or [R, width]; None where nobody has it."""
    if not _has(carriers, keys):
        return None
    rows = [_row(where, _get(attrs, keys), keys[0], label) for where, attrs in carriers]
    for (where, _), row in zip(carriers, rows, strict=True):
        if row.shape != rows[0].shape:
            shapes = f"{list(row.shape)}, and {carriers[0][0]} of {list(rows[0].shape)}"
            problem = f"gives {where} {keys[0]} of shape {shapes}"
            raise ConfigError("dataset", problem, value=label)
    values = torch.from_numpy(np.stack(rows))
    return values.float() if values.is_floating_point() else values


def _row(where: str, value: Any, name: str, label: str) -> np.ndarray:
    """A number, or several in a row."""
    if value is None:
        problem = f"gives {where} no {name}, and others have some"
        raise ConfigError("dataset", problem, value=label)
    row = np.asarray(value)
    if row.dtype.kind not in "fiub" or row.ndim > 1:
        problem = f"gives {where} {name}={short(value)}, no number or list of numbers"
        raise ConfigError("dataset", problem, value=label)
    return row if row.dtype.kind == "f" else row.astype(np.int64)


def _learn(made: Sequence[Data], carriers: Carriers, sizes: Sequence[int], label: str) -> None:
    """Give every graph its labels, and its masks where there is a split."""
    y, classes = _labels(carriers, label)
    fields = {"y": y, **_masks(carriers, label)}
    for name, values in fields.items():
        for data, part in zip(made, values.split(list(sizes)), strict=True):
            data[name] = part
    for data in made:
        if classes:
            data.classes = classes


def _labels(carriers: Carriers, label: str) -> tuple[Tensor, tuple[str, ...]]:
    """Class ids (-1 for none), numbers or rows of numbers (nan for none); and names of classes."""
    cells = [_get(attrs, LABEL) for _, attrs in carriers]
    known = [cell for cell in cells if cell is not None]
    words = [cell for cell in known if isinstance(cell, str)]
    if words and len(words) < len(known):
        problem = f"gives labels that are text ({short(words[0])}), and others that are not"
        raise ConfigError("dataset", problem, value=label)
    if words:
        names = sorted(set(known))
        place = {name: n for n, name in enumerate(names)} | {None: -1}
        return torch.tensor([place[cell] for cell in cells]), tuple(names)
    there = [carrier for carrier, cell in zip(carriers, cells, strict=True) if cell is not None]
    values = _stacked(there, LABEL, label)
    assert values is not None
    whole = values.dim() == 1 and not values.is_floating_point()
    values = values if whole else values.float()
    y = values.new_full((len(cells), *values.shape[1:]), -1 if whole else torch.nan)
    y[[cell is not None for cell in cells]] = values
    return y, ()


def _masks(carriers: Carriers, label: str) -> dict[str, Tensor]:
    """Masks over the carriers, from their attribute ``split``."""
    found = [attrs.get("split") for _, attrs in carriers]
    if all(part is None for part in found):
        return {}
    for (where, _), part in zip(carriers, found, strict=True):
        if part not in (*PARTS, None):
            problem = f"gives {where} split={part!r}"
            raise ConfigError("dataset", problem, value=label, choices=PARTS, near=part)
    return {f"{part}_mask": torch.tensor([each == part for each in found]) for part in PARTS}
