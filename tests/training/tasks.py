"""What the tests name by `module:attr`: small graphs, layers that go wrong, a rank that dies."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from gymspace.graph.task import Task
from gymspace.training.batches import Batch, full_graph
from gymspace.training.group import Group
from gymspace.training.worker import Worker

CLASSES = 3


def ring(
    nodes: int = 60, train: int = 12, alike: str = "none", edges: str = "ring", edge_dim: int = 0
) -> Data:
    """A ring, its class in each node's noisy features; split into ``train``, 15 for val, the rest.

    ``alike`` names a split whose nodes are all of class 0; ``edges`` is ring, none, half (the other
    half of the nodes has none), or loops (a directed ring with self loops and repeated edges).
    Edges have features if ``edge_dim`` is not zero.
    """
    draws = torch.Generator().manual_seed(1)
    y = torch.randperm(nodes, generator=draws) % CLASSES
    masks = dict.fromkeys(("train", "val", "test"))
    order = torch.randperm(nodes, generator=draws)
    for name, rows in zip(masks, order.tensor_split([train, train + 15]), strict=True):
        masks[name] = torch.zeros(nodes, dtype=torch.bool).index_fill(0, rows, True)
    if alike != "none":
        y[masks[alike]] = 0
    x = one_hot(y, CLASSES) + torch.randn(nodes, CLASSES, generator=draws)
    data = Data(x=x, y=y, edge_index=_edges(nodes, edges))
    data.update({f"{name}_mask": mask for name, mask in masks.items()})
    if edge_dim:
        data.edge_attr = torch.randn(data.edge_index.size(1), edge_dim, generator=draws)
    return data


def _edges(nodes: int, kind: str) -> Tensor:
    here = torch.arange({"none": 0, "half": nodes // 2}.get(kind, nodes))
    along = torch.stack([here, (here + 1) % max(len(here), 1)])
    if kind == "loops":
        return torch.cat([along, along[:, :5], torch.stack([here, here])], dim=1)
    return torch.cat([along, along.flip(0)], dim=1)


def numbers(nodes: int = 60, tasks: int = 1) -> Data:
    """Regression on a ring; every fourth label of each task is missing."""
    data = ring(nodes)
    y = data.x @ torch.linspace(-1, 1, CLASSES * tasks).reshape(CLASSES, tasks)
    y[torch.arange(0, nodes, 4)] = torch.nan
    data.y = y
    return data


def ticks() -> Data:
    """Two labels of 0 and 1 for each node of a ring; some are missing."""
    data = numbers(tasks=2)
    data.y = (data.y > 0).float().where(data.y.isfinite(), torch.nan)
    data.y[1::4, 0] = torch.nan
    return data


def counted(path: str) -> Data:
    """A ring that adds a line to the file ``path`` each time it is made."""
    with Path(path).open("a") as file:
        file.write("loaded\n")
    return ring()


class Raises(nn.Linear):
    """A layer with a mistake that shows when it is called."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        raise RuntimeError("first line\nsecond line")


class RaisesInTraining(nn.Linear):
    """A layer with a mistake that shows only when it is trained."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.training:
            raise RuntimeError("only in training")
        return super().forward(x)


class RaisesOnRank1(nn.Linear):
    """A layer that goes wrong on one of two ranks, while the other waits for it."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if torch.distributed.get_rank() == 1:
            raise RuntimeError("only on rank 1")
        return super().forward(x)


class DropsNodes(nn.Linear):
    """A layer that returns fewer rows than it was given."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x)[1:]


class Lion(torch.optim.Optimizer):
    """An optimiser of the user's: Chen et al., "Symbolic Discovery of Optimization", 2023."""

    def __init__(self, params, lr: float, betas=(0.9, 0.99), weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                    first, second = group["betas"]
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.sub_(mean.lerp(p.grad, 1 - first).sign(), alpha=group["lr"])
                    mean.lerp_(p.grad, 1 - second)


@dataclass(frozen=True)
class Parts:
    """The whole graph several times, each with a share of this rank's training rows."""

    whole: Batch
    parts: int

    def __len__(self) -> int:
        return self.parts

    def train(self, epoch: int = 0) -> Iterator[Batch]:
        for rows in self.whole.rows["train"].tensor_split(self.parts):
            yield replace(self.whole, rows={**self.whole.rows, "train": rows})

    def evaluate(self) -> Iterator[Batch]:
        yield self.whole


def parts(task: Task, group: Group, parts: int = 3) -> Parts:
    """A loader of ``parts`` batches an epoch."""
    return Parts(full_graph(task, group).batch, parts)


class Mortal(Worker):
    """A rank that kills itself after the epoch that the file `die` in the trial's folder names."""

    def __call__(self, request, report):
        order = request.folder / "die"

        def deadly(progress):
            report(progress)
            if order.exists() and progress.epoch == int(order.read_text()):
                order.unlink()
                os.kill(os.getpid(), signal.SIGKILL)

        return super().__call__(request, deadly)
