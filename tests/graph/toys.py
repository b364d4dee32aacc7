"""Small graphs with every awkwardness, and datasets of them for `tests.graph.toys:<name>`."""

import torch
from torch import Tensor
from torch_geometric.data import Data

# Directed; node 0 has a self loop, 1 -> 2 stands twice, 5 has no edge, 4 none that comes in.
AWKWARD = torch.tensor([[0, 1, 1, 2, 4, 3, 0], [0, 2, 2, 3, 3, 0, 3]])
RING = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
EDGELESS = torch.empty(2, 0, dtype=torch.int64)
INDICES = {"awkward": AWKWARD, "ring": RING, "edgeless": EDGELESS}
NODES = 6


def features(width: int = 4, seed: int = 0) -> Tensor:
    return torch.randn(
        NODES, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


def weights(index: Tensor) -> Tensor:
    return torch.linspace(0.5, 2.0, index.size(1), dtype=torch.float64)


def matrix(index: Tensor, values: Tensor | None = None) -> Tensor:
    """Dense [target, source] matrix; what stands twice counts twice."""
    dense = torch.zeros(NODES, NODES, dtype=torch.float64)
    values = torch.ones(index.size(1)) if values is None else values
    for source, target, value in zip(*index.tolist(), values.tolist(), strict=True):
        dense[target, source] += value
    return dense


def dataset(
    edges: str = "awkward",
    width: int = 4,
    zeros: bool = False,
    without: str = "",
    column: bool = False,
    targets: int = 0,
    edge_data: bool = False,
) -> Data:
    """A graph of six nodes and two classes; ``without`` leaves an attribute out."""
    index = INDICES[edges]
    x = torch.eye(NODES, 20) if zeros else features(width).float()
    y = torch.tensor([0, 1, 0, 1, 0, 1])
    y = y.unsqueeze(1) if column else y
    data = Data(x=x, edge_index=index, y=torch.ones(NODES, targets) if targets else y)
    if edge_data:
        data.edge_attr, data.edge_weight = torch.ones(index.size(1), 2), weights(index)
    if without:
        data[without] = None
    return data


def flat() -> Data:
    return Data(x=torch.ones(6), edge_index=RING, y=torch.zeros(6, dtype=torch.int64))


def outside() -> Data:
    return Data(x=torch.ones(3, 1), edge_index=RING, y=torch.zeros(3, dtype=torch.int64))


def labels() -> Data:
    return Data(x=torch.ones(6, 1), edge_index=RING, y=torch.zeros(1, dtype=torch.int64))


def transposed() -> Data:
    return Data(x=torch.ones(6, 1), edge_index=RING.T, y=torch.zeros(6, dtype=torch.int64))


def faulty(**changes) -> Data:
    """A ring of six with some of its fields replaced."""
    index = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    data = Data(x=torch.eye(6), edge_index=index, y=torch.arange(6) % 2)
    for name, value in changes.items():
        setattr(data, name, value)
    return data


def short_weights() -> Data:
    """One weight less than edges."""
    return faulty(edge_weight=torch.ones(5))


def infinite() -> Data:
    """A feature that is no number."""
    return faulty(x=torch.full((6, 2), float("nan")))


def masked_edges() -> Data:
    """A bool edge_index."""
    return faulty(edge_index=torch.ones(2, 6, dtype=torch.bool))


def narrow_edges() -> Data:
    """An int32 edge_index, which is as good as any."""
    index = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    return faulty(edge_index=index.int())


def raising() -> Data:
    """No data."""
    raise OSError("the file is gone")


def no_data() -> int:
    """Something else than a graph."""
    return 3


ODD = {
    "column weights": {"edge_weight": torch.ones(6, 1)},
    "deep edges": {"edge_attr": torch.ones(6, 1, 2)},
    "nan edges": {"edge_attr": torch.full((6, 2), torch.nan)},
    "infinite weights": {"edge_weight": torch.full((6,), torch.inf)},
    "infinite labels": {"y": torch.tensor([0.0, 1.0, torch.inf] * 2)},
    "complex": {"x": torch.ones(6, 2, dtype=torch.complex64)},
    "no width": {"x": torch.ones(6, 0)},
    "no nodes": {"x": torch.ones(0, 2), "y": torch.ones(0), "edge_index": EDGELESS},
    "words": {"y": ["cat", "dog"] * 3},
    "years": {"y": torch.tensor([0, 1, 20_250_101] * 2)},
}


def odd(what: str) -> Data:
    """A ring with one of many faults."""
    return faulty(**ODD[what])


def several() -> Data:
    """Several whole numbers as labels; -1 says that there is none."""
    return faulty(y=torch.tensor([[0, 1, -1], [1, -1, -1], [-1, -1, -1]] * 2))
