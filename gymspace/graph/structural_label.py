"""Labels measured on the structure of any graphs, as GraphGym's ``augment_label`` gives them."""

from collections.abc import Mapping, Sequence
from copy import copy
from types import MappingProxyType

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from gymspace.errors import ConfigError
from gymspace.graph import generated, structures
from gymspace.graph.arguments import whole
from gymspace.graph.generated import Measure, choose, equal_frequency
from gymspace.graph.rows import PARTS


def _of_graphs(measure: structures.Whole) -> Measure:
    return lambda graph: np.array([measure(graph)])


MEASURES: Mapping[str, Mapping[str, Measure]] = MappingProxyType(
    {
        "node": generated.LABELS,
        "graph": {name: _of_graphs(measure) for name, measure in structures.LABELS.items()},
    }
)


class StructuralLabel:
    """Labels each node or graph by a measure of its structure, in place of the labels there are.

    ``level`` node takes ``of`` clustering, pagerank, degree or path_length; graph takes clustering
    or path_length, means over the graph; null is graph where there are many, else node. The values
    of all rows together are cut into ``bins`` classes of about equally many
    (`gymspace.graph.generated.equal_frequency`): y int64 [R]. With ``bins`` null they are
    themselves what is to be predicted: y float32 [R]. Edges count in both directions, parallel
    ones once, self loops not at all. Masks of a split stay only where there are as many rows as
    before.

    Raises:
        ConfigError: unknown level or measure, rows that are all alike.
    """

    def __init__(self, of: str = "clustering", bins: int | None = 10, level: str | None = None):
        if level is not None and level not in MEASURES:
            key, problem = "data.transform.level", "labels can be those of nodes or graphs"
            raise ConfigError(key, problem, value=level, choices=MEASURES)
        choose("data.transform.of", MEASURES[level or "node"], of)
        self.of, self.level = of, level
        self.bins = None if bins is None else whole("data.transform.bins", bins, 2)

    def __call__(self, data: Data) -> Data:
        """``data``, as the only graph there is."""
        return self.of_all([data])[0]

    def of_all(self, graphs: Sequence[Data]) -> list[Data]:
        """All ``graphs``, which share their classes."""
        level = self.level or ("graph" if len(graphs) > 1 else "node")
        measure = choose("data.transform.of", MEASURES[level], self.of)
        values = [measure(_bare(graph)) for graph in graphs]
        y = self._labels(np.concatenate(values), level)
        rows = y.split([len(found) for found in values])
        return [_relabelled(graph, part) for graph, part in zip(graphs, rows, strict=True)]

    def _labels(self, values: np.ndarray, level: str) -> Tensor:
        if self.bins is None:
            return torch.from_numpy(values).float()
        classes = equal_frequency(values, self.bins)
        if classes.max() == 0:
            problem = f"gives all {level}s the same class"
            raise ConfigError("data.transform.of", problem, value=self.of)
        return torch.from_numpy(classes).long()


def _bare(data: Data) -> nx.Graph:
    """The nodes and edges alone."""
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    return to_networkx(bare, to_undirected=True, remove_self_loops=True)


def _relabelled(data: Data, y: Tensor) -> Data:
    """``data`` with other labels, and without what spoke of those before."""
    changed, masks = copy(data), [f"{part}_mask" for part in PARTS]
    odd = [name for name in masks if name in data and len(data[name]) != len(y)]
    for name in [*odd, "classes"]:
        if name in changed:
            del changed[name]
    changed.y = y
    return changed
