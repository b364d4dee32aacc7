"""Nodes, edges and graphs of a folder found by their ids."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gymspace.graph.folder.problems import Problems, shown
from gymspace.graph.folder.sheets import Sheet, Sheets

TEXT = pa.large_string()
_BETWEEN = pa.scalar("\x1f", TEXT)  # what no id holds, between graph and id


@dataclass(frozen=True, eq=False)
class Linked:
    """``ends`` [2, E] as rows of ``nodes`` nodes; of many graphs, that of each node and edge."""

    ends: np.ndarray
    nodes: int
    graphs: int | None = None
    graph_of_node: np.ndarray | None = None
    graph_of_edge: np.ndarray | None = None


def link(sheets: Sheets, problems: Problems) -> Linked | None:
    """Find what the ids speak of; an id that speaks of nothing is added to ``problems``.

    None where a file or a column is missing that would say to which graph nodes belong.
    """
    lack = list(_lack(sheets))
    for path, text in lack:
        problems.add(path, text)
    if lack:
        return None
    if not _is_many(sheets):
        keys = _node_keys(sheets, None, False, problems)
        return Linked(_ends(sheets, keys, False, problems), len(keys))
    ids, known = _graph_ids(sheets, problems)
    within = "graph" in sheets.edges.columns.keys  # ids count within a graph
    of_edge = _graph_of(sheets.edges, ids, known, problems) if within else None
    of_node = _graph_of(sheets.nodes, ids, known, problems) if sheets.nodes else None
    keys = _node_keys(sheets, of_node, within, problems)
    ends = _ends(sheets, keys, within, problems)
    if of_node is None:
        of_node = _of_ends(ends, of_edge, len(keys))
    if of_edge is None:
        of_edge = _of_both_ends(sheets.edges, ends, of_node, ids, problems)
    _check_no_graph_is_empty(sheets, ids, of_node, problems)
    return Linked(ends, len(keys), len(ids), of_node, of_edge)


def _is_many(sheets: Sheets) -> bool:
    """Whether there is a word of graphs in any file."""
    found = (sheets.graphs, sheets.nodes, sheets.edges)
    return any("graph" in sheet.columns.keys for sheet in found if sheet)


def _lack(sheets: Sheets) -> Iterator[tuple[Path, str]]:
    """What is missing of a graph, or of the files of many."""
    if sheets.nodes is None and sheets.features is None and not sheets.edges.table.rows:
        yield sheets.edges.path, "has no rows, and there is no file of nodes"
    if not _is_many(sheets):
        return
    if sheets.nodes is not None and "graph" not in sheets.nodes.columns.keys:
        yield sheets.nodes.path, "has no column 'graph', and another file has"
    if sheets.nodes is None and "graph" not in sheets.edges.columns.keys:
        yield sheets.edges.path, "has no column 'graph', and no file of nodes that has one"
    if sheets.nodes is None and sheets.features is not None:
        yield sheets.edges.path, "has no file of nodes beside it, which features.npy needs"


def _graph_ids(sheets: Sheets, problems: Problems) -> tuple[pa.Array, str]:
    """All graphs, in the order in which they are first named; and the file that names them."""
    found = (sheets.graphs, sheets.nodes, sheets.edges)
    sheet = next(s for s in found if s and "graph" in s.columns.keys)
    column = sheet.table.text["graph"]
    ids = pc.unique(column.drop_null())
    if sheet is sheets.graphs:
        _tell(sheet, _repeated(column), "graph", "has a row already", problems)
        _tell(sheet, _nulls(column), "graph", "", problems)
    return ids, sheet.path.name


def _graph_of(sheet: Sheet, ids: pa.Array, known: str, problems: Problems) -> np.ndarray:
    """The graph of each row [R], -1 where it is none."""
    column = sheet.table.text["graph"]
    found = _place(column, ids)
    _tell(sheet, np.flatnonzero(found < 0), "graph", f"is in no row of {known}", problems)
    return found


def _node_keys(
    sheets: Sheets, of_node: np.ndarray | None, within: bool, problems: Problems
) -> pa.Array:
    """What each node is found by: its id, after that of its graph where ids count within one."""
    nodes = sheets.nodes
    if nodes is None:
        return _keys_without_nodes(sheets, within)
    if "id" in nodes.columns.keys:
        keys = _keys(nodes, "id", within)
        _tell(nodes, _nulls(nodes.table.text["id"]), "id", "", problems)
        _tell(nodes, _repeated(keys), "id", "has a row already", problems)
        return keys
    if of_node is None or not within:
        return _numbered(np.arange(nodes.table.rows))
    order = np.argsort(of_node, kind="stable")
    starts = np.searchsorted(of_node[order], of_node[order])
    number = np.empty_like(order)
    number[order] = np.arange(len(order)) - starts
    graphs = nodes.table.text["graph"].combine_chunks()
    return pc.binary_join_element_wise(graphs, _numbered(number), _BETWEEN)


def _keys_without_nodes(sheets: Sheets, within: bool) -> pa.Array:
    """Nodes are those that have an edge, or the rows of `features.npy`, numbered."""
    if sheets.features is not None:
        return _numbered(np.arange(len(sheets.features)))
    ends = [_keys(sheets.edges, name, within) for name in ("source", "target")]
    return pc.unique(pa.concat_arrays(ends).drop_null())


def _ends(sheets: Sheets, keys: pa.Array, within: bool, problems: Problems) -> np.ndarray:
    """Rows of the nodes from and to which the edges lead [2, E], -1 where there is no such node."""
    edges = sheets.edges
    known = "features.npy" if sheets.nodes is None else sheets.nodes.path.name
    ends = []
    for name in ("source", "target"):
        ends.append(_place(_keys(edges, name, within), keys))
        where = " with this graph" if within else ""
        lost = np.flatnonzero(ends[-1] < 0)
        _tell(edges, lost, name, f"is in no row of {known}{where}", problems)
    return np.stack(ends)


def _of_ends(ends: np.ndarray, of_edge: np.ndarray | None, nodes: int) -> np.ndarray:
    """The graph of each node, from its edges."""
    found = np.full(nodes, -1)
    if of_edge is not None:
        found[ends] = of_edge
    return found


def _of_both_ends(
    edges: Sheet, ends: np.ndarray, of_node: np.ndarray, ids: pa.Array, problems: Problems
) -> np.ndarray:
    """The graph of each edge, which its ends share."""
    graphs = of_node[ends]
    apart = np.flatnonzero((graphs[0] != graphs[1]) & (ends >= 0).all(0) & (graphs >= 0).all(0))

    def text(row: int) -> str:
        one, other = (shown(ids[int(graph)]) for graph in graphs[:, row])
        source, target = (edges.table.cell(name, row) for name in ("source", "target"))
        return f"leads from {source} in the graph {one} to {target} in the graph {other}"

    edges.table.tell(apart, text, problems)
    return graphs[0]


def _check_no_graph_is_empty(
    sheets: Sheets, ids: pa.Array, of_node: np.ndarray, problems: Problems
) -> None:
    if sheets.graphs is not None and len(ids) == sheets.graphs.table.rows:
        counts = np.bincount(of_node[of_node >= 0], minlength=len(ids))
        _tell(sheets.graphs, np.flatnonzero(counts == 0), "graph", "has no nodes", problems)


def _keys(sheet: Sheet, name: str, within: bool) -> pa.Array:
    column = sheet.table.text[name]
    if within:
        column = pc.binary_join_element_wise(sheet.table.text["graph"], column, _BETWEEN)
    return column.combine_chunks()


def _numbered(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers).cast(TEXT)


def _place(column: Any, values: pa.Array) -> np.ndarray:
    """Where each cell is among ``values``, -1 for nowhere."""
    found = pc.index_in(column, value_set=values, skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _nulls(column: Any) -> np.ndarray:
    return np.flatnonzero(np.asarray(pc.is_null(column)))


def _repeated(column: Any) -> np.ndarray:
    """Rows whose cell stands in an earlier row too."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    first = _place(array, array)
    return np.flatnonzero((first >= 0) & (first != np.arange(len(first))))


def _tell(sheet: Sheet, rows: np.ndarray, name: str, what: str, problems: Problems) -> None:
    """Say of each row that its cell ``name`` is ``what``, or that there is none."""

    def text(row: int) -> str:
        cell = sheet.table.cell(name, row)
        return (
            f"{name} {cell} {what}"
            if sheet.table.text[name][row].is_valid
            else f"'{name}' is empty"
        )

    sheet.table.tell(rows, text, problems)
