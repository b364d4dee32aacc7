"""The tables of a folder as PyG's `Data`: one, or one for each graph."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.graph.folder.labels import Labels
from gymspace.graph.folder.linked import Linked
from gymspace.graph.folder.numbers import numbers
from gymspace.graph.folder.problems import Problems
from gymspace.graph.folder.reading import Table
from gymspace.graph.folder.sheets import Sheet, Sheets

OF_EDGES = ("edge_attr", "edge_weight", "edge_time")
Level = Literal["nodes", "edges", "graphs"]


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is to be learnt: rows of which ``level``, and masks over them by name."""

    level: Level
    labels: Labels
    masks: Mapping[str, np.ndarray]


def learnt(sheets: Sheets, linked: Linked, problems: Problems) -> Learnt | None:
    """The labels of the folder with their split; that of graphs holds for their nodes too."""
    found: dict[Level, Sheet | None]
    found = {"nodes": sheets.nodes, "edges": sheets.edges, "graphs": sheets.graphs}
    level = next((level for level, sheet in found.items() if sheet and sheet.labels), None)
    masks: Mapping[str, np.ndarray] = {}
    for place, sheet in found.items():
        if sheet is None or not sheet.masks:
            continue
        if place == level:
            masks = sheet.masks
        elif (place, level) == ("graphs", "nodes") and linked.graph_of_node is not None:
            masks = {name: mask[linked.graph_of_node] for name, mask in sheet.masks.items()}
        else:
            there = f"the labels are of {level}" if level else "there are no labels"
            problems.add(sheet.path, f"has '{sheet.columns.splits[0]}', and {there}")
    if level == "edges" and linked.graphs is not None:
        problems.add(sheets.edges.path, "has labels: those of edges are learnt on a single graph")
    sheet = found[level] if level else None
    return Learnt(level, sheet.labels, masks) if level and sheet and sheet.labels else None


def edge_data(edges: Sheet, problems: Problems) -> dict[str, Tensor]:
    """Weights float32 [E], and times [E] as int64 or float64, of the edges that have any."""
    found = {}
    for name, dtype in (("weight", np.float32), ("time", np.float64)):
        if name in edges.columns.keys:
            values = _whole(edges.table.text[name]) if name == "time" else None
            values = _finite(edges.table, name, dtype, problems) if values is None else values
            found[f"edge_{name}"] = torch.from_numpy(values)
    return found


def _whole(column: pa.ChunkedArray) -> np.ndarray | None:
    """A column of whole numbers as int64 [R], None where some cell is something else."""
    with suppress(pa.ArrowInvalid):
        return None if column.null_count else np.array(pc.cast(column, pa.int64()).to_numpy())
    return None


def _finite(table: Table, name: str, dtype: type, problems: Problems) -> np.ndarray:
    with np.errstate(over="ignore"):
        values: np.ndarray = numbers(table.text[name]).values.astype(dtype)
    odd = np.flatnonzero(~np.isfinite(values))
    table.tell(
        odd, lambda row: f"'{name}' is {table.cell(name, row)}, not a finite number", problems
    )
    values[odd] = 0
    return values


def one_graph(
    sheets: Sheets, linked: Linked, edges: Mapping[str, Tensor], rows: Learnt | None
) -> Data:
    """All nodes and edges as one graph, with the labels of its nodes or edges."""
    data = Data(edge_index=torch.from_numpy(linked.ends), num_nodes=linked.nodes, **edges)
    nodes = sheets.nodes.table.numbers if sheets.nodes else None
    x = sheets.features if sheets.features is not None else nodes
    if x is not None and x.shape[1]:
        data.x = torch.from_numpy(x)
    if sheets.edges.columns.features:
        data.edge_attr = torch.from_numpy(sheets.edges.table.numbers)
    if rows is None or rows.level == "graphs":
        return data
    values, masks = torch.from_numpy(rows.labels.values), _tensors(rows.masks)
    if rows.level == "nodes":
        data.y = values
    else:
        known = _labelled(values)
        data.edge_label_index, data.edge_label = data.edge_index[:, known], values[known]
        masks = {name: mask[known] for name, mask in masks.items()}
    data.update(masks)
    return _named(data, rows)


def many_graphs(whole: Data, linked: Linked, rows: Learnt | None) -> Iterator[Data]:
    """The graphs that ``whole`` holds together, one after the other."""
    assert linked.graphs is not None
    nodes, node_starts = _grouped(linked.graph_of_node, linked.graphs)
    edges, edge_starts = _grouped(linked.graph_of_edge, linked.graphs)
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(len(nodes))
    index = place[whole.edge_index[:, edges]]
    of_edges = {name: whole[name][edges] for name in OF_EDGES if name in whole}
    of_nodes = {
        name: value[nodes]
        for name, value in whole.to_dict().items()
        if name not in (*OF_EDGES, "edge_index", "num_nodes", "classes")
    }
    masks = _tensors(rows.masks) if rows is not None and rows.level == "graphs" else {}
    for n in range(linked.graphs):
        here, there = slice(*node_starts[n : n + 2]), slice(*edge_starts[n : n + 2])
        graph = Data(edge_index=index[:, there] - here.start, num_nodes=here.stop - here.start)
        graph.update({name: value[here] for name, value in of_nodes.items()})
        graph.update({name: value[there] for name, value in of_edges.items()})
        if rows is not None and rows.level == "graphs":
            graph.y = torch.from_numpy(rows.labels.values[n : n + 1])
            graph.update({name: mask[n : n + 1] for name, mask in masks.items()})
        yield _named(graph, rows)


def _grouped(owner: np.ndarray | None, graphs: int) -> tuple[Tensor, list[int]]:
    """Rows in the order of their graphs, and where each graph begins [G + 1]."""
    assert owner is not None
    starts = np.concatenate([[0], np.bincount(owner, minlength=graphs).cumsum()])
    return torch.from_numpy(np.argsort(owner, kind="stable")), starts.tolist()


def _tensors(masks: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(mask) for name, mask in masks.items()}


def _labelled(values: Tensor) -> Tensor:
    """Which rows have a label [R]."""
    known = ~values.isnan() if values.is_floating_point() else values >= 0
    return known if known.dim() == 1 else known.any(1)


def _named(data: Data, rows: Learnt | None) -> Data:
    if rows is not None and rows.labels.names:
        data.classes = rows.labels.names
    return data
