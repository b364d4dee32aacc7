"""Datasets of many small graphs, `tests.graph.many:<name>`, sound and faulty; raw TU files."""

from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.utils import to_undirected

SIZES = (3, 1, 5, 2, 4)
WIDTH = 3


def graph(nodes: int, number: int = 0, edges: bool = True, attr: bool = False, **more) -> Data:
    """A ring of ``nodes`` nodes, or no edges; its label is whether there are many nodes."""
    draws = torch.Generator().manual_seed(number)
    here = torch.arange(nodes if edges and nodes > 1 else 0)
    index = torch.stack([here, (here + 1) % max(nodes, 1)])
    x = torch.randn(nodes, WIDTH, generator=draws)
    data = Data(x=x, edge_index=index, y=torch.tensor([int(nodes > 3)]))
    if attr and index.numel():
        data.edge_attr = torch.randn(index.size(1), 2, generator=draws)
        data.edge_weight = torch.rand(index.size(1), generator=draws)
    for name, value in more.items():
        data[name] = value
    return data


def rings(graphs: int = 40, attr: bool = False, targets: int = 0) -> list[Data]:
    """Rings of 1 to 7 nodes; every ninth graph has no edges.

    Field case E1: these have no edge data. ``targets`` makes y [1, targets] of real numbers.
    """
    made = [graph(1 + n * 5 % 7, n, edges=n % 9 > 0, attr=attr) for n in range(graphs)]
    for data in made:
        if targets:
            data.y = data.x.mean(0)[:targets].unsqueeze(0)
    return made


def three(**changes: list) -> list[Data]:
    """Three graphs, with an attribute of each replaced."""
    made = [graph(nodes, nodes) for nodes in (3, 2, 4)]
    for name, values in changes.items():
        for data, value in zip(made, values, strict=True):
            data[name] = value
    return made


def masked() -> list[Data]:
    """Graphs that bring their own split."""
    made = rings(9)
    for number, data in enumerate(made):
        for place, name in enumerate(("train", "val", "test")):
            data[f"{name}_mask"] = torch.tensor(number % 3 == place)
    return made


def batch() -> Data:
    """Graphs in PyG's own form."""
    return Batch.from_data_list(rings(6))


class Stored(InMemoryDataset):
    """Graphs as a PyG dataset."""

    def __init__(self) -> None:
        super().__init__()
        self.data, self.slices = self.collate(rings(6))


def numbers() -> list[Data]:
    """Labels that are no tensors of one row."""
    return three(y=[0, torch.tensor(1), torch.tensor([0])])


def empty() -> list[Data]:
    """No graphs."""
    return []


def narrow() -> list[Data]:
    """Features of another width."""
    return three(x=[torch.ones(3, 2), torch.ones(2, 3), torch.ones(4, 2)])


def outside() -> list[Data]:
    """An edge from the second graph to what is the third's."""
    index = [data.edge_index for data in three()]
    index[1] = torch.tensor([[0, 1], [1, 2]])
    return three(edge_index=index)


def nan() -> list[Data]:
    """Features that are no numbers."""
    return three(x=[torch.ones(3, 1), torch.ones(2, 1), torch.full((4, 1), torch.nan)])


def per_node() -> list[Data]:
    """Labels of nodes."""
    return three(y=[torch.zeros(n, dtype=torch.int64) for n in (3, 2, 4)])


def of_nodes(graphs: int = 40, tasks: int = 0, within: bool = False) -> list[Data]:
    """Rings whose nodes have labels: whether a feature is positive; several with ``tasks``.

    A graph is for training, validation or test in turn, or ``within`` it every node by itself. The
    nodes of a graph of a single one have a label too.
    """
    made = rings(graphs)
    for number, data in enumerate(made):
        here = torch.arange(data.num_nodes) + number if within else torch.tensor([number])
        part = here.expand(data.num_nodes) % 3
        data.y = (data.x[:, :tasks] > 0).float() if tasks else (data.x[:, 0] > 0).long()
        for place, name in enumerate(("train", "val", "test")):
            data[f"{name}_mask"] = part == place
    return made


def half_labels() -> list[Data]:
    """Labels of nodes, but for one graph."""
    return three(y=[torch.zeros(3).long(), torch.zeros(1).long(), torch.zeros(4).long()])


def flat_targets() -> list[Data]:
    """Several labels of a graph, not as a row."""
    return three(y=[torch.zeros(2)] * 3)


def nodeless() -> list[Data]:
    """A graph of no nodes."""
    made = three()
    made[1] = Data(x=torch.ones(0, WIDTH), edge_index=torch.empty(2, 0).long(), y=made[1].y)
    return made


def half_attr() -> list[Data]:
    """Field case E1: edges with features, and edges without."""
    return [graph(3, attr=True), graph(3), graph(4, attr=True)]


def mixed_attr() -> list[Data]:
    """Edge features of two widths."""
    made = [graph(3, attr=True) for _ in range(3)]
    made[2].edge_attr = torch.ones(3, 5)
    return made


def featureless() -> list[Data]:
    """Graphs without features; the last has an isolated node."""
    return [Data(num_nodes=d.num_nodes, edge_index=d.edge_index, y=d.y) for d in rings(6)]


def other() -> list[object]:
    """A list of something else."""
    return [graph(3), "graph"]


def write_tu(root: Path, name: str = "MUTAG", graphs: int = 30) -> None:
    """Raw files of a TU dataset that is not the real one: rings with labels."""
    folder = root / "tudataset" / name / "raw"
    folder.mkdir(parents=True)
    lines: dict[str, list[str]] = {key: [] for key in ("A", "graph_indicator", "graph_labels")}
    lines |= {"node_labels": [], "edge_labels": []}
    start = 1
    for number in range(graphs):
        size = 3 + number % 4
        ends: Tensor = to_undirected(graph(size).edge_index)
        lines["A"] += [f"{a + start}, {b + start}" for a, b in ends.T.tolist()]
        lines["edge_labels"] += [str(n % 2) for n in range(ends.size(1))]
        lines["graph_indicator"] += [str(number + 1)] * size
        lines["node_labels"] += [str((n + number) % 2) for n in range(size)]
        lines["graph_labels"].append(str(1 if size > 4 else -1))
        start += size
    for key, rows in lines.items():
        (folder / f"{name}_{key}.txt").write_text("\n".join(rows) + "\n")


def several() -> list[Data]:
    """Several whole numbers as labels; -1 says that there is none."""
    return three(y=[torch.tensor([[0, 1]]), torch.tensor([[1, -1]]), torch.tensor([[-1, -1]])])


def infinite(field: str) -> list[Data]:
    """A number that is none in the last graph."""
    made = [graph(3, n, attr=True, y=torch.zeros(1)) for n in range(3)]
    made[2][field] = torch.full_like(made[2][field], torch.inf)
    return made


def two_widths() -> list[Data]:
    """What nobody uses, of another width in each graph."""
    return three(fingerprint=[torch.ones(1, n) for n in (2, 3, 4)])
