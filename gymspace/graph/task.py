"""A task: the graph or graphs, their labels and their split, ready for a device."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, Dataset

from gymspace import registry
from gymspace.errors import ConfigError, place
from gymspace.graph.checks import OF_EDGES, check_classes, check_fields, check_shapes
from gymspace.graph.collate import Bounds, collate
from gymspace.graph.graph import Graph
from gymspace.graph.objects import as_pyg
from gymspace.graph.splits import Split
from gymspace.spec import DataSpec, TrialSpec

# Share of non-zero features below which a sparse product is the faster one on a CPU.
SPARSE = 0.1
Level = Literal["node", "graph"]
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset on its device: ``graph``, and ``y`` ([R] class ids or [R, T] numbers) of its rows.

    A row is a node; where ``bounds`` say which part of ``graph`` is which of many, it is a graph if
    there are as many labels as graphs. ``data`` is what the dataset gave, many graphs as a `Batch`.
    """

    graph: Graph
    y: Tensor
    data: Data
    dim_out: int
    bounds: Bounds | None = None

    @property
    def dim_in(self) -> int:
        """Width of the node features."""
        return self.data.x.size(1)  # the graph's may be sparse

    @property
    def level(self) -> Level:
        """What has a label."""
        whole = self.bounds is not None and len(self.y) == len(self.bounds)
        return "graph" if whole else "node"

    @property
    def counts(self) -> list[int]:
        """Nodes of each graph."""
        return [self.data.x.size(0)] if self.bounds is None else self.bounds.counts

    def rows_of(self, ids: Tensor) -> Tensor:
        """Numbers of the rows of the graphs ``ids``, one graph after the other."""
        assert self.bounds is not None
        return ids if self.level == "graph" else self.bounds.nodes_of(ids)

    def graphs_with(self, rows: Tensor) -> Tensor:
        """Bool [G]: the graphs that have a row in the mask ``rows`` [R]."""
        assert self.bounds is not None
        return rows if self.level == "graph" else self.bounds.holding(rows)


@dataclass(frozen=True, eq=False)
class Task:
    """A source, and which of its rows are for training, validation and test in one repeat."""

    source: Source
    split: Split


def source_spec(spec: TrialSpec) -> TrialSpec:
    """``spec`` without what its source does not depend on: the key under which it is kept."""
    data = DataSpec(root=spec.data.root, cache=spec.data.cache, transform=spec.data.transform)
    return TrialSpec(dataset=spec.dataset, data=data, precision=spec.precision, device=spec.device)


def load_source(spec: TrialSpec) -> Source:
    """Load the dataset of ``spec`` in its precision, on its device.

    Raises:
        ConfigError: files that are missing, arguments that do not fit, no features or labels.
    """
    data, bounds = _load(spec)
    device, dtype = torch.device(spec.device), DTYPES[spec.precision]
    optional = {
        name: (value.unsqueeze(1) if name == "edge_attr" and value.dim() == 1 else value).to(
            device, dtype
        )
        for name in OF_EDGES
        if isinstance(value := getattr(data, name, None), Tensor)
    }
    if bounds is not None:
        bounds, optional["batch"] = bounds.to(device), data.batch.to(device)
    graph = Graph.of(data.x.to(device, dtype), data.edge_index.to(device, torch.int64), **optional)
    # Not of many graphs: a batch of them is rows of x, which a dense matrix gives at once.
    sparse = bounds is None and device.type == "cpu"
    if sparse and data.x.count_nonzero() < SPARSE * data.x.numel():
        graph = graph.with_sparse_x()
    y, outputs = _labels(data.y, dtype)
    check_classes(outputs, y, spec.dataset.label)
    return Source(graph, y.to(device), data, outputs, bounds)


def _labels(y: Tensor, dtype: torch.dtype) -> tuple[Tensor, int]:
    """Class ids, or numbers in ``dtype``; and how many scores a row needs for them.

    Of several whole numbers in a row, as of class ids, a negative one says that there is no label.
    """
    y = y.squeeze(1) if y.dim() == 2 and y.size(1) == 1 else y
    if y.is_floating_point():
        return y.to(dtype), y.size(1) if y.dim() == 2 else 1
    if y.dim() == 2:
        return y.to(dtype).masked_fill(y < 0, torch.nan), y.size(1)
    return y.to(torch.int64), int(y.max()) + 1


def split_task(spec: TrialSpec, source: Source) -> Task:
    """``source`` with the split of one repeat (``seed`` and ``fold`` of ``spec``)."""
    split = registry.build(
        "data.split",
        spec.data.split,
        source.data,
        seed=spec.seed,
        fold=spec.fold,
        rows=f"{source.level}s",
    )
    masks = {name: getattr(split, name).to(source.y.device) for name in ("train", "val", "test")}
    return Task(source, replace(split, **masks))


def _load(spec: TrialSpec) -> tuple[Data, Bounds | None]:
    """The graph of ``spec``; or its graphs put together, and where each of them is."""
    label = spec.dataset.label
    found = _found(spec)
    graphs = found if isinstance(found, list) else [found]
    for transform in spec.data.transform:
        change = registry.build("data.transform", transform)
        with _told("data.transform", transform.label):
            of_all = getattr(change, "of_all", None)  # what looks at all graphs together
            graphs = of_all(graphs) if of_all else [change(graph) for graph in graphs]
    if isinstance(found, list):
        return collate(graphs, label)
    check_fields(graphs[0], label)
    check_shapes(graphs[0], label)
    return graphs[0], None


def _found(spec: TrialSpec) -> Data | list[Data]:
    """What the dataset gives: a graph, or many as a list (from a PyG dataset or batch too)."""
    root, cache = Path(spec.data.root).absolute(), Path(spec.data.cache).absolute()
    label = spec.dataset.label
    with _told("dataset", label):
        found = as_pyg(registry.build("dataset", spec.dataset, root=root, cache=cache), label)
        if isinstance(found, Batch):
            found = found.to_data_list()
        graphs = list(found) if isinstance(found, Dataset | list | tuple) else [found]
    odd = next((graph for graph in graphs if not isinstance(graph, Data)), None)
    if odd is not None:
        problem = f"gives a {type(odd).__name__}, neither a PyG Data nor many of them"
        raise ConfigError("dataset", problem, value=label)
    if not isinstance(found, Data):
        return graphs
    if found.x is None and isinstance(found.y, Tensor) and found.y.dim():
        found.num_nodes = found.y.size(0)  # else PyG counts only up to the last node with an edge
    return found


@contextmanager
def _told(key: str, label: str) -> Iterator[None]:
    """Tell whatever a function of the user's raises in one line."""
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(key, f"fails: {error!r}, {place(error)}", value=label) from error
