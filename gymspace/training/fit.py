"""The epoch loop: train, evaluate all splits in one forward pass, yield."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from gymspace.training.batches import SPLITS, Loader
from gymspace.training.group import Group
from gymspace.training.losses import Loss
from gymspace.training.states import Direction, Metric, Sums, Value


@dataclass(frozen=True)
class Epoch:
    """An epoch, counted from 0: rate ``lr``, ``seconds`` and ``loss`` of its training, ``scores``.

    ``loss`` is the mean over the labels that were trained on, each as it was before the step.
    ``scores`` has ``<split>_loss`` and ``<split>_<metric>``; it is empty if nothing was evaluated.
    """

    epoch: int
    lr: float
    seconds: float
    loss: float
    scores: Mapping[str, Value]

    @property
    def row(self) -> dict[str, float]:
        """The epoch as a row of the history."""
        values = {name: score.value for name, score in self.scores.items()}
        return {"epoch": self.epoch, "lr": self.lr, "seconds": self.seconds, **values}


@dataclass(frozen=True)
class Fit:
    """All that a trial trains with; what changes (model, optimiser, schedule) is torch's own."""

    model: nn.Module
    loader: Loader
    loss: Loss
    metrics: Mapping[str, Metric]
    optimizer: Optimizer
    scheduler: LRScheduler
    group: Group
    grad_clip: float | None = None


def fit(trial: Fit, epochs: int, eval_every: int = 1, start: int = 0) -> Iterator[Epoch]:
    """Train until ``epochs`` epochs are done, ``start`` of them before; the last is evaluated."""
    model = trial.group.wrap(trial.model)
    for epoch in range(start, epochs):
        lr = trial.optimizer.param_groups[0]["lr"]
        begun = time.perf_counter()
        loss = train_epoch(trial, model)
        seconds = time.perf_counter() - begun
        due = (epoch + 1) % eval_every == 0 or epoch + 1 == epochs
        yield Epoch(epoch, lr, seconds, loss, evaluate(trial) if due else {})


def train_epoch(trial: Fit, model: nn.Module) -> float:
    """One pass over the training batches, then one step of the scheduler; the epoch's loss."""
    model.train()
    met = labels = 0.0
    for batch in trial.loader.train():
        # Not even forward: that would change BatchNorm's statistics and the random state.
        if not trial.group.any(batch.has_labels("train")):
            continue
        part = trial.loss(model(batch.graph), batch.y, batch.rows["train"])
        total, count = trial.group.add(part.total.item(), part.count)
        met, labels = met + total, labels + count
        # DDP averages gradients; the loss is the sum over all ranks, divided once.
        loss = part.total * (trial.group.size / count)
        trial.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if trial.grad_clip is not None:
            nn.utils.clip_grad_norm_(trial.model.parameters(), trial.grad_clip)
        trial.optimizer.step()
    trial.scheduler.step()
    return met / labels if labels else math.nan


@torch.no_grad()
def evaluate(trial: Fit) -> dict[str, Value]:
    """Loss and metrics of all splits from one forward pass, exact over batches and ranks."""
    trial.model.eval()
    judges: dict[str, Metric] = {"loss": MeanLoss(trial.loss), **trial.metrics}
    columns = [(split, name) for split in SPLITS for name in judges]
    states: list[list[Any]] = [[] for _ in columns]
    for batch in trial.loader.evaluate():
        pred = trial.model(batch.graph)
        for kept, (split, name) in zip(states, columns, strict=True):
            kept.append(judges[name].update(pred, batch.y, batch.rows[split]))
    merged = trial.group.merge([first.merge(*rest) for first, *rest in states])
    return {
        f"{split}_{name}": judges[name].compute(state)
        for (split, name), state in zip(columns, merged, strict=True)
    }


class MeanLoss:
    """A loss as a metric: its sum over the labels, divided once by their number."""

    direction: Direction = "min"

    def __init__(self, loss: Loss):
        self.loss = loss

    def update(self, pred: Tensor, target: Tensor, mask: Tensor) -> Sums:
        part = self.loss(pred, target, mask)
        return Sums(torch.tensor([float(part.total), float(part.count)], dtype=torch.float64))

    def compute(self, state: Sums) -> Value:
        total, count = state.values.tolist()
        return Value(total / count if count else math.nan, int(count), 0)
