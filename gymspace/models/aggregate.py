"""How the messages of a node's in-neighbours become one; a node without any gets zeros."""

from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation
from torch_geometric.utils import scatter

from gymspace.graph.graph import Graph


class Aggregate(nn.Module):
    """Features of neighbours to one row per node: ``forward(graph, x)`` [N, F] -> [N, F]."""

    uses: frozenset[str] = frozenset({"edge_weight"})
    how = "sum"

    def reduce(self, messages: Tensor, target: Tensor, nodes: int) -> Tensor:
        """[E, F] -> [nodes, F], where message e goes to node ``target[e]``, unweighted."""
        return scatter(messages, target, 0, nodes, reduce=self.how)


class Add(Aggregate):
    """Sum of the neighbours, weighted by the edge weights where the graph has them."""

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        return graph.adj("sum") @ x


class Mean(Aggregate):
    """Sum of the (weighted) neighbours over their number."""

    how = "mean"

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        return graph.adj("mean") @ x


class Max(Aggregate):
    """Largest value of each feature; edge weights play no part."""

    uses: frozenset[str] = frozenset()
    how = "max"

    def forward(self, graph: Graph, x: Tensor) -> Tensor:
        source, target = graph.links.index
        return self.reduce(x[source], target, x.size(0))


class AsPyG(Aggregation):
    """One of ours where a convolution of PyG wants its own kind."""

    def __init__(self, agg: Aggregate):
        super().__init__()
        self.agg = agg

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        max_num_elements: int | None = None,
    ) -> Tensor:
        assert index is not None
        assert dim_size is not None
        return self.agg.reduce(x, index, dim_size)
