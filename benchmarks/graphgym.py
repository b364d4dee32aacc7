"""GraphGym's own code, as PyG ships it, on the example grid: what it scores and what it costs.

Needs `pip install yacs`. `--l2norm stage` takes out PyG's normalisation of each layer, as in the
published code; `layer` leaves it. `python benchmarks/graphgym.py` prints test accuracy at the epoch
of the best validation accuracy over seeds, and an epoch's cost as a ratio, turns interleaved.
"""

import argparse
import statistics
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import epoch
import plain
import torch
import torch.nn.functional as F
from interleave import ratio, seconds
from torch_geometric.data import Data
from torch_geometric.graphgym.config import cfg, set_cfg
from torch_geometric.graphgym.models import gnn, head, layer

DESIGN = {
    "layer_type": "generalconv",
    "self_msg": "concat",
    "agg": "add",
    "batchnorm": True,
    "act": "prelu",
    "dropout": 0.0,
    "dim_inner": 64,
    "l2norm": True,
    "normalize_adj": False,
}


def configure(l2norm: str) -> None:
    """Set GraphGym's global config to the example grid's base design."""
    set_cfg(cfg)
    cfg.dataset.node_encoder = cfg.dataset.edge_encoder = False
    cfg.gnn.head = "node"
    for name, value in DESIGN.items():
        setattr(cfg.gnn, name, value)
    if l2norm == "stage":
        build = layer.new_layer_config

        def without(*args: object, **kwargs: object) -> layer.LayerConfig:
            return replace(build(*args, **kwargs), has_l2norm=False)

        gnn.new_layer_config = head.new_layer_config = without


def train(data: plain.Data, stage: str, layers: int, epochs: int) -> Iterator[dict[str, float]]:
    """GraphGym's model in the plain loop: one evaluation forward for all splits, as ours."""
    cfg.gnn.stage_type, cfg.gnn.layers_mp = stage, layers
    cfg.gnn.layers_pre_mp = cfg.gnn.layers_post_mp = 1
    model = gnn.GNN(data.x.size(1), int(data.y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    rows = data.splits["train"]
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        pred, _ = model(Data(x=data.x, edge_index=data.links, y=data.y))
        F.cross_entropy(pred[rows], data.y[rows]).backward()
        optimizer.step()
        scheduler.step()
        yield scores(model, data)


@torch.no_grad()
def scores(model: torch.nn.Module, data: plain.Data) -> dict[str, float]:
    """Accuracy of validation and test."""
    model.eval()
    right = model(Data(x=data.x, edge_index=data.links, y=data.y))[0].argmax(1) == data.y
    return {split: right[rows].float().mean().item() for split, rows in data.splits.items()}


def accuracy(data: plain.Data, stage: str, layers: int, seeds: int) -> str:
    """Mean and standard deviation of the test accuracy over ``seeds``."""
    tests = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        tests.append(max(train(data, stage, layers, 200), key=lambda row: row["val"])["test"])
    return f"{statistics.mean(tests):.4f} +- {statistics.stdev(tests):.4f}"


def cost(root: Path, data: plain.Data, layers: int, rounds: int, turn: int) -> str:
    """An epoch of GraphGym over one of gymspace's `fit()`."""
    epochs = (rounds + 1) * turn
    loops = {
        "graphgym": train(data, "stack", layers, epochs),
        "fit": epoch.ours(root, layers, epochs),
    }
    peers = {name: lambda loop=loop: deque(islice(loop, turn), 0) for name, loop in loops.items()}
    return ratio(seconds(peers, rounds), "graphgym", "fit")


def main() -> None:
    """Print the cost of an epoch, then the accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=plain.ROOT, help="holds planetoid/Cora/raw")
    parser.add_argument("--l2norm", choices=("stage", "layer"), default="stage")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    torch.set_num_threads(1)
    configure(args.l2norm)
    data = plain.cora(args.root)
    print("epoch of GraphGym's model in a plain loop / through fit(), median (quartiles)")
    for layers in (2, 4):
        print(f"  Cora, {layers} MP layers: {cost(args.root, data, layers, args.rounds, 4)}")
    print(f"test accuracy of GraphGym's code, l2norm={args.l2norm}, {args.seeds} seeds")
    for stage in ("stack", "skipsum", "skipconcat"):
        for layers in (2, 4, 6):
            print(f"  {stage}, {layers} MP layers: {accuracy(data, stage, layers, args.seeds)}")


if __name__ == "__main__":
    main()
