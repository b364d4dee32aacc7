"""What it costs to cut small graphs into batches, against PyG's DataLoader on the same graphs.

A turn is an epoch: every graph once, shuffled. PyG's loader collates its batches from a list of
graphs, in this process. Turns alternate, on one thread; printed are ratios, median (quartiles).
"""

import argparse
from collections import deque

import torch
from interleave import ratio, seconds, spread
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from gymspace.graph.collate import collate
from gymspace.graph.graph import Graph
from gymspace.graph.rows import Split
from gymspace.graph.task import Source, Task
from gymspace.training.graph_batches import GraphBatches
from gymspace.training.group import Group


def graphs(count: int, nodes: int, width: int, edge_dim: int) -> list[Data]:
    """Random graphs of up to twice ``nodes`` nodes, with four edges for each."""
    draws = torch.Generator().manual_seed(0)
    made = []
    for _ in range(count):
        size = int(torch.randint(1, 2 * nodes, (), generator=draws))
        index = torch.randint(size, (2, 4 * size), generator=draws)
        x, attr = torch.randn(size, width, generator=draws), torch.randn(4 * size, edge_dim)
        made.append(Data(x=x, edge_index=index, edge_attr=attr, y=torch.tensor([size % 2])))
    return made


def loader(made: list[Data], size: int) -> GraphBatches:
    """gymspace's loader, all graphs for training."""
    data, bounds = collate(made, "random")
    graph = Graph.of(data.x, data.edge_index, data.edge_attr, batch=data.batch)
    every, none = torch.ones(len(made), dtype=torch.bool), torch.zeros(len(made), dtype=torch.bool)
    task = Task(Source(graph, data.y, data, 2, bounds), Split(every, none, none, "all"))
    return GraphBatches(task, Group(), size, seed=0)


def main() -> None:
    """Print the ratio for several batch sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=30, help="of a graph, on average")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(1)
    made = graphs(args.graphs, args.nodes, 16, 4)
    for size in (16, 32, 128):
        ours, theirs = loader(made, size), DataLoader(made, size, shuffle=True)
        taken = seconds(
            {
                "gymspace": lambda ours=ours: deque(ours.train(0), 0),
                "pyg": lambda theirs=theirs: deque(theirs, 0),
            },
            args.rounds,
        )
        ours_ms = spread([1000 * value for value in taken["gymspace"]], 1)
        faster = ratio(taken, "pyg", "gymspace")
        print(f"batches of {size}: {ours_ms} ms an epoch, PyG's takes {faster} times as long")


if __name__ == "__main__":
    main()
