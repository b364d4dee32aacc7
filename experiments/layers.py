"""Layers of one's own, reached by `model.layer=experiments.layers:HalfMean`."""

from torch import Tensor, nn
from torch_geometric.nn import MessagePassing


class HalfMean(MessagePassing):
    """One linear map of half the node itself and half the mean of its neighbours."""

    def __init__(self, dim_in: int, dim_out: int):
        super().__init__(aggr="mean")
        self.linear = nn.Linear(dim_in, dim_out)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.linear(0.5 * x + 0.5 * self.propagate(edge_index, x=x))
