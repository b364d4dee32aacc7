"""The parts of a dataset that its class gives one at a time, put together with their split."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data, Dataset

from gymspace.graph.rows import PARTS


def parted(parts: Sequence[Dataset]) -> list[Data]:
    """All graphs of the three ``parts`` in their order, each with the masks of its part.

    A mask has an entry for each label of its graph: bool [1], or [nodes] for labels of nodes.
    """
    return [
        _masked(graph, part) for part, graphs in zip(PARTS, parts, strict=True) for graph in graphs
    ]


def _masked(graph: Data, part: str) -> Data:
    y = graph.y
    rows = y.size(0) if isinstance(y, Tensor) and y.dim() else 1
    graph.update({f"{name}_mask": torch.full((rows,), name == part) for name in PARTS})
    return graph
