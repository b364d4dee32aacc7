"""Many graphs as one disjoint graph in memory, and any of them cut out again as a batch."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Batch, Data

from gymspace.graph.adjacency import Sparse
from gymspace.graph.checks import OF_EDGES, check_ends, check_graphs
from gymspace.graph.graph import Edges, Graph, Nodes


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where each of G graphs begins and ends among all ``nodes`` and ``edges`` [G + 1]."""

    nodes: Tensor
    edges: Tensor

    @cached_property
    def counts(self) -> list[int]:
        """Nodes of each graph."""
        return self.nodes.diff().tolist()

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.nodes) - 1

    def nodes_of(self, ids: Tensor) -> Tensor:
        """Numbers of the nodes of the graphs ``ids``, one graph after the other."""
        return _rows(*_spans(self.nodes, ids))[0]

    def holding(self, nodes: Tensor) -> Tensor:
        """Bool [G]: the graphs that have a node in the mask ``nodes`` [N]."""
        before = functional.pad(nodes.cumsum(0), (1, 0))
        return before[self.nodes].diff() > 0

    def to(self, device: torch.device) -> "Bounds":
        """The same on another device."""
        return Bounds(self.nodes.to(device), self.edges.to(device))


def collate(graphs: Sequence[Data], label: str) -> tuple[Batch, Bounds]:
    """All ``graphs`` as one, and where each is; ``y`` has a row for each of them or of their nodes.

    What not all of them have, or have in one width, is left out, but for edge data: it may be
    missing where there are no edges. An edge index counts on from graph to graph.

    Raises:
        ConfigError: graphs that are not fit to be learnt from together, or at all.
    """
    graphs = [_tidy(graph) for graph in graphs]
    check_graphs(graphs, label)
    _fill(graphs)
    found = {key for graph in graphs for key in graph.keys()}  # noqa: SIM118
    extra = sorted(key for key in found if not _alike(graphs, key))
    data = Batch.from_data_list(list(graphs), exclude_keys=extra)
    edges = torch.tensor([graph.edge_index.size(1) for graph in graphs])
    graph_of_edge = torch.arange(len(graphs)).repeat_interleave(edges)
    check_ends(data, graph_of_edge, data.ptr, label)
    return data, Bounds(data.ptr, _bounds(graph_of_edge, len(graphs)))


def take(graph: Graph, bounds: Bounds, ids: Tensor) -> Graph:
    """The graphs numbered ``ids`` [B] of the disjoint ``graph``, as a batch in this order.

    All of it is index arithmetic and copying: no loop over the graphs.
    """
    ((kind, store),), ((link, links),) = graph.nodes.items(), graph.edges.items()
    assert not isinstance(store.features, Sparse)  # graphs in numbers are kept dense
    starts, counts = _spans(bounds.nodes, ids)
    rows, offsets = _rows(starts, counts)
    first, many = _spans(bounds.edges, ids)
    places, _ = _rows(first, many)
    batch = torch.arange(len(ids), device=ids.device).repeat_interleave(counts)
    encodings = {name: tensor.index_select(0, rows) for name, tensor in store.encodings.items()}
    nodes = Nodes(store.features.index_select(0, rows), batch, encodings)
    index = links.index.index_select(1, places) + (offsets - starts).repeat_interleave(many)
    attr = None if links.attr is None else links.attr.index_select(0, places)
    weight = None if links.weight is None else links.weight.index_select(0, places)
    return Graph({kind: nodes}, {link: Edges(index, attr, weight)})


def _spans(bounds: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    starts = bounds[ids]
    return starts, bounds[ids + 1] - starts


def _rows(starts: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers from each start on, ``counts`` of them, and where each span now begins."""
    offsets = counts.cumsum(0) - counts
    shift = (starts - offsets).repeat_interleave(counts)
    return torch.arange(len(shift), device=shift.device) + shift, offsets


def _bounds(owner: Tensor, graphs: int) -> Tensor:
    counts = torch.bincount(owner, minlength=graphs)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _alike(graphs: Sequence[Data], key: str) -> bool:
    """Whether all ``graphs`` have ``key``, in a form that can be put together."""
    return all(key in graph for graph in graphs) and len({_form(g, key) for g in graphs}) == 1


def _form(graph: Data, key: str) -> tuple[object, ...]:
    """What must not differ from graph to graph: the kind, and of a tensor the other dimensions."""
    value = graph[key]
    if not isinstance(value, Tensor):
        return (type(value),)
    shape: list[int | None] = list(value.shape)
    if shape and (dim := graph.__cat_dim__(key, value)) is not None:
        shape[dim] = None
    return (Tensor, value.layout, *shape)


def _tidy(graph: Data) -> Data:
    """``graph`` with labels as a tensor of one row; a number is one of its own."""
    if not isinstance(graph.y, Tensor | int | float):
        return graph
    y = torch.as_tensor(graph.y)
    if graph.y is y and y.dim():
        return graph
    graph = copy(graph)
    graph.y = y.reshape(1) if y.dim() == 0 else y
    return graph


def _fill(graphs: list[Data]) -> None:
    """Give graphs without edges the empty edge data that they lack."""
    for name in OF_EDGES:
        some = next((v for g in graphs if (v := getattr(g, name, None)) is not None), None)
        for place, graph in enumerate(graphs):
            if some is not None and getattr(graph, name, None) is None:
                graphs[place] = copy(graph)
                graphs[place][name] = some.new_zeros(0, *some.shape[1:])
