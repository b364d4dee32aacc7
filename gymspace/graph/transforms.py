"""Transforms of a graph that PyG has not, or not for all that edges may carry."""

from copy import copy

import torch_geometric.transforms
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform
from torch_geometric.utils import to_undirected

# What speaks of pairs that are to be scored, not of the edges.
OF_PAIRS = ("edge_label", "edge_label_index", "train_mask", "val_mask", "test_mask")


class RemoveSelfLoops(BaseTransform):
    """Drops edges from a node to itself, with their weight and features (PyG keeps some of it)."""

    def forward(self, data: Data) -> Data:
        """``data`` without self loops."""
        source, target = data.edge_index
        return data.edge_subgraph(source != target)


class ToUndirected(torch_geometric.transforms.ToUndirected):
    """PyG's, but labels of edges stay as they are, and of two times the earlier one is kept.

    PyG takes the labels, and masks over them, for what edges carry, if there are as many.
    """

    def forward(self, data: Data) -> Data:
        """``data`` with each edge in both directions; what two of them carry is reduced."""
        bare, apart = copy(data), {}
        names = (*(OF_PAIRS if "edge_label" in data else ()), "edge_time")
        for name in names:
            if name in data:
                apart[name] = bare[name]
                del bare[name]
        if "edge_time" in apart:
            times = to_undirected(data.edge_index, apart["edge_time"], data.num_nodes, "min")
            apart["edge_time"] = times[1]
        undirected = super().forward(bare)
        undirected.update(apart)
        return undirected
