"""Transforms of a graph that PyG has not, or not for all that edges may carry."""

from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform


class RemoveSelfLoops(BaseTransform):
    """Drops edges from a node to itself, with their weight and features (PyG keeps some of it)."""

    def forward(self, data: Data) -> Data:
        """``data`` without self loops."""
        source, target = data.edge_index
        return data.edge_subgraph(source != target)
