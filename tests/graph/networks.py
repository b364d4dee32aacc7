"""NetworkX graphs, sound and faulty, for `tests.graph.networks:<name>`."""

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import HeteroData


def path(kind: type = nx.Graph, **attributes) -> nx.Graph:
    """Three nodes a - b - c with one attribute each, and a loop at c."""
    graph = kind()
    for place, node in enumerate("abc"):
        cells = {name: values[place] for name, values in attributes.items()}
        graph.add_node(node, **{name: v for name, v in cells.items() if v is not None})
    graph.add_edge("a", "b", weight=0.5, time=3, x=[1, 2])
    graph.add_edge("b", "c", weight=2, time=4, x=[3, 4])
    graph.add_edge("c", "c", weight=1, time=5, x=[5, 6])
    return graph


def club() -> nx.Graph:
    """Nodes with all that is read of them."""
    x = [np.array([1, 2.5]), torch.tensor([3.0, 4]), (5, 6)]
    return path(x=x, y=["red", "blue", None], split=["train", "test", "val"])


def rings(graphs: int = 30) -> list[nx.Graph]:
    """Cycles that are labelled by whether they are long; every node has its degree."""
    made = [nx.cycle_graph(3 + n % 5) for n in range(graphs)]
    for n, ring in enumerate(made):
        ring.graph.update(label=int(len(ring) > 4), split=("train", "val", "test")[n % 3])
        nx.set_node_attributes(ring, dict(ring.degree), "x")
    return made


def odd(what: str) -> object:
    """What cannot be a dataset."""
    return {
        "hetero": HeteroData,
        "empty": nx.Graph,
        "mixed": lambda: [nx.path_graph(2), 3],
        "width": lambda: path(x=[[1], [1, 2], [1]], y=[0, 1, 0]),
        "lacks": lambda: path(x=[1, None, 2], y=[0, 1, 0]),
        "word": lambda: path(x=[1, "blue", 2], y=[0, 1, 0]),
        "names": lambda: path(x=[1, 2, 3], y=["red", 1, "red"]),
        "split": lambda: path(x=[1, 2, 3], y=[0, 1, 0], split=["trian", "val", "test"]),
        "bare": lambda: path(y=[0, 1, 0]),
        "nan": lambda: path(x=[1, np.nan, 2], y=[0, 1, 0]),
        "unlabelled": lambda: path(x=[1, 2, 3]),
    }[what]()
