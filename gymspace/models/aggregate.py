"""How the messages of a node's in-neighbours become one; a node without any gets zeros."""

from torch import Tensor, nn
from torch_geometric.utils import scatter

from gymspace.graph.graph import Graph


class Add(nn.Module):
    """Sum of the neighbours, weighted by the edge weights where the graph has them."""

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        return graph.adj("sum") @ x


class Mean(nn.Module):
    """Sum of the (weighted) neighbours over their number."""

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        return graph.adj("mean") @ x


class Max(nn.Module):
    """Largest value of each feature; edge weights play no part."""

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        source, target = graph.links.index
        return scatter(x[source], target, 0, x.size(0), reduce="max")
