"""A task: the graph, its labels and its split, ready for a device."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace import registry
from gymspace.errors import ConfigError, place
from gymspace.graph.graph import Graph
from gymspace.graph.splits import Split
from gymspace.spec import DataSpec, TrialSpec

# Share of non-zero features below which a sparse product is the faster one on a CPU.
SPARSE = 0.1
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset on its device: ``graph``, ``y`` ([N] class ids or [N, T] numbers)."""

    graph: Graph
    y: Tensor
    data: Data
    dim_out: int

    @property
    def dim_in(self) -> int:
        """Width of the node features."""
        return self.data.x.size(1)  # the graph's may be sparse


@dataclass(frozen=True, eq=False)
class Task:
    """A source, and which of its nodes are for training, validation and test in one repeat."""

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
    data = _load(spec)
    device, dtype = torch.device(spec.device), DTYPES[spec.precision]
    optional = {
        name: (value.unsqueeze(1) if name == "edge_attr" and value.dim() == 1 else value).to(
            device, dtype
        )
        for name in ("edge_attr", "edge_weight")
        if isinstance(value := getattr(data, name, None), Tensor)
    }
    graph = Graph.of(data.x.to(device, dtype), data.edge_index.to(device, torch.int64), **optional)
    if device.type == "cpu" and data.x.count_nonzero() < SPARSE * data.x.numel():
        graph = graph.with_sparse_x()
    y = data.y.squeeze(1) if data.y.dim() == 2 and data.y.size(1) == 1 else data.y
    floating = y.is_floating_point() or y.dim() == 2
    outputs = (y.size(1) if y.dim() == 2 else 1) if floating else int(y.max()) + 1
    return Source(graph, y.to(device, dtype if floating else torch.int64), data, outputs)


def split_task(spec: TrialSpec, source: Source) -> Task:
    """``source`` with the split of one repeat (``seed`` and ``fold`` of ``spec``)."""
    split = registry.build(
        "data.split", spec.data.split, source.data, seed=spec.seed, fold=spec.fold
    )
    masks = {name: getattr(split, name).to(source.y.device) for name in ("train", "val", "test")}
    return Task(source, replace(split, **masks))


def _load(spec: TrialSpec) -> Data:
    root, cache = Path(spec.data.root).absolute(), Path(spec.data.cache).absolute()
    label = spec.dataset.label
    try:
        data = registry.build("dataset", spec.dataset, root=root, cache=cache)
    except ConfigError:
        raise
    except Exception as error:  # a function of the user's: whatever it raises is told
        raise ConfigError("dataset", f"fails: {error!r}, {place(error)}", value=label) from error
    if not isinstance(data, Data):
        raise ConfigError("dataset", f"gives a {type(data).__name__}, not a PyG Data", value=label)
    if data.x is None and isinstance(data.y, Tensor) and data.y.dim():
        data.num_nodes = data.y.size(0)  # else PyG counts only up to the last node with an edge
    for transform in spec.data.transform:
        data = registry.build("data.transform", transform)(data)
    for name in ("x", "edge_index", "y"):
        if getattr(data, name, None) is None:
            hint = ": data.transform=[constant] adds some" if name == "x" else ""
            raise ConfigError("dataset", f"has no {name}{hint}", value=label)
    _check_shapes(data, label)
    return data


def _check_shapes(data: Data, label: str) -> None:
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
    ends = data.edge_index
    if ends.dim() != 2 or ends.size(0) != 2 or ends.dtype not in (torch.int64, torch.int32):
        problem = f"has edge_index of {ends.dtype} {list(ends.shape)}, not whole numbers [2, edges]"
        raise ConfigError("dataset", problem, value=label)
    if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < shape[0]:
        problem = f"has edges that end outside its {shape[0]} nodes"
        raise ConfigError("dataset", problem, value=label)
    for name in ("edge_attr", "edge_weight"):
        value = getattr(data, name, None)
        if isinstance(value, Tensor) and value.shape[:1] != ends.shape[1:]:
            problem = f"has {name} of shape {list(value.shape)} for {ends.size(1)} edges"
            raise ConfigError("dataset", problem, value=label)
