"""Linear maps with GraphGym's initialisation."""

from torch import Tensor, nn

from gymspace.graph.graph import Graph

RELU_GAIN = nn.init.calculate_gain("relu")


class Dense(nn.Linear):
    """A linear map of a graph's features, fast where most of these are zero."""

    def of(self, graph: Graph) -> Tensor:
        x = graph.project(self.weight.t())
        return x if self.bias is None else x + self.bias


def dense(dim_in: int, dim_out: int, bias: bool, gain: float = RELU_GAIN) -> Dense:
    """A linear map with GraphGym's initialisation: Xavier uniform with ReLU's gain, bias zero."""
    return initialise(Dense(dim_in, dim_out, bias=bias), gain)


def initialise(linear: Dense, gain: float = RELU_GAIN) -> Dense:
    """Draw the weights of ``linear`` as `dense` does."""
    nn.init.xavier_uniform_(linear.weight, gain=gain)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
    return linear


def two_maps(dim_in: int, dim_out: int, bias: bool) -> nn.Sequential:
    """The MLP inside GIN and its kin: two linear maps with ReLU between them."""
    return nn.Sequential(
        dense(dim_in, dim_out, bias=True), nn.ReLU(), dense(dim_out, dim_out, bias)
    )


def redraw(mlp: nn.Sequential) -> None:
    """Draw the maps of ``mlp`` anew, after a convolution of PyG that took it did so its own way."""
    for part in mlp:
        if isinstance(part, Dense):
            initialise(part)
