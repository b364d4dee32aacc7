"""Datasets of one's own, reached by `dataset=experiments.datasets:ring`."""

import networkx as nx
import torch
from torch.nn.functional import one_hot
from torch_geometric.data import Data


def ring(nodes: int = 600, arcs: int = 3, noise: float = 1.0) -> Data:
    """A ring cut into arcs: the class of a node is its arc, its features are that plus noise."""
    here = torch.arange(nodes)
    there = (here + 1) % nodes
    y = here * arcs // nodes
    draws = torch.randn(nodes, arcs, generator=torch.Generator().manual_seed(0))
    edges = torch.stack([torch.cat([here, there]), torch.cat([there, here])])
    return Data(x=one_hot(y, arcs) + noise * draws, edge_index=edges, y=y)


def karate() -> nx.Graph:
    """Zachary's karate club as NetworkX has it: the label of a member is the club he went to."""
    graph = nx.karate_club_graph()
    for _, member in graph.nodes(data=True):
        member["y"] = member["club"]
    return graph
