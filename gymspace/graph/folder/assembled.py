"""The tables of a folder put together."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from gymspace.graph.folder.labels import Labels
from gymspace.graph.folder.linked import Linked
from gymspace.graph.folder.numbers import numbers
from gymspace.graph.folder.problems import Problems
from gymspace.graph.folder.reading import Table
from gymspace.graph.folder.sheets import Sheet, Sheets
from gymspace.graph.folder.whole import Whole, ordered

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


def assemble(
    sheets: Sheets, linked: Linked, edges: Mapping[str, Tensor], rows: Learnt | None
) -> Whole:
    """All nodes and edges, with what is to be learnt of them."""
    fields = {"edge_index": torch.from_numpy(linked.ends), **edges}
    nodes = sheets.nodes.table.numbers if sheets.nodes else None
    x = sheets.features if sheets.features is not None else nodes
    if x is not None and x.shape[1]:
        fields["x"] = torch.from_numpy(x)
    if sheets.edges.columns.features:
        fields["edge_attr"] = torch.from_numpy(sheets.edges.table.numbers)
    labels = _labels(rows, fields["edge_index"]) if rows else {}
    classes = rows.labels.names if rows else ()
    of_graphs = labels if rows and rows.level == "graphs" else {}
    fields |= {} if of_graphs else labels
    if linked.graphs is None or linked.graph_of_node is None or linked.graph_of_edge is None:
        return Whole(fields, linked.nodes, classes)
    owners = (linked.graph_of_node, linked.graph_of_edge)
    fields, nodes_of, edges_of = ordered(fields, *owners, linked.graphs)
    return Whole(fields, linked.nodes, classes, nodes_of, edges_of, of_graphs)


def _labels(rows: Learnt, ends: Tensor) -> dict[str, Tensor]:
    """Labels and masks by the names that `Data` has for them."""
    values = torch.from_numpy(rows.labels.values)
    masks = {name: torch.from_numpy(mask) for name, mask in rows.masks.items()}
    if rows.level != "edges":
        return {"y": values, **masks}
    known = ~values.isnan() if values.is_floating_point() else values >= 0
    known = known if known.dim() == 1 else known.any(1)
    pairs = {"edge_label_index": ends[:, known], "edge_label": values[known]}
    return {**pairs, **{name: mask[known] for name, mask in masks.items()}}
