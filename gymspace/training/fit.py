"""The epoch loop: train, evaluate all splits in one forward pass, yield."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.swa_utils import AveragedModel

from gymspace.models.budget import Matched
from gymspace.training.batches import SPLITS, Batch, Loader
from gymspace.training.group import Group
from gymspace.training.losses import Loss
from gymspace.training.schedules import advance
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
    """All that a trial trains with; what changes (model, optimiser, schedule) is torch's own.

    ``metric`` names the one that chooses the epoch, ``accumulate`` is the batches per step, and
    ``averaged`` follows the model's weights and is judged in its place; ``budget`` is how well the
    model's size meets the one asked for.
    """

    model: nn.Module
    loader: Loader
    loss: Loss
    metrics: Mapping[str, Metric]
    metric: str
    optimizer: Optimizer
    scheduler: LRScheduler
    group: Group
    grad_clip: float | None = None
    accumulate: int = 1
    averaged: AveragedModel | None = None
    budget: Matched | None = None

    @property
    def judged(self) -> nn.Module:
        """The model that is evaluated."""
        return self.model if self.averaged is None else self.averaged.module


def fit(trial: Fit, epochs: int, eval_every: int = 1, start: int = 0) -> Iterator[Epoch]:
    """Train until ``epochs`` epochs are done, ``start`` of them before; the last is evaluated."""
    model = trial.group.wrap(trial.model)
    for epoch in range(start, epochs):
        lr = trial.optimizer.param_groups[0]["lr"]
        begun = time.perf_counter()
        loss = train_epoch(trial, model, epoch)
        seconds = time.perf_counter() - begun
        due = (epoch + 1) % eval_every == 0 or epoch + 1 == epochs
        scores = evaluate(trial) if due else {}
        advance(trial.scheduler, scores[f"val_{trial.metric}"].value if due else None)
        yield Epoch(epoch, lr, seconds, loss, scores)


def train_epoch(trial: Fit, model: nn.Module, epoch: int = 0) -> float:
    """One pass over the training batches, a step for every few of them; the epoch's loss."""
    model.train()
    met = labels = 0.0
    behind = 0.0  # labels that the gradients at hand are a mean over
    for batch, steps in _paced(_labelled(trial, epoch), trial.accumulate):
        with nullcontext() if steps else trial.group.apart(model):
            part = trial.loss(model(batch.graph), batch.y, batch.rows["train"])
            total, count = trial.group.add(part.total.item(), part.count)
            met, labels = met + total, labels + count
            _dilute(trial, behind, count)
            behind += count
            # DDP averages gradients; the loss is the sum over all ranks, divided once.
            loss = part.total * (trial.group.size / behind)
            loss.backward()
        if steps:
            step(trial)
            behind = 0.0
    if getattr(trial.loader, "dealt", True):
        trial.group.align([trial.model, trial.judged])
    return met / labels if labels else math.nan


def step(trial: Fit) -> None:
    """Step the weights by their gradients, and their average after them."""
    if trial.grad_clip is not None:
        nn.utils.clip_grad_norm_(trial.model.parameters(), trial.grad_clip)
    trial.optimizer.step()
    if trial.averaged is not None:
        trial.averaged.update_parameters(trial.model)


def _labelled(trial: Fit, epoch: int) -> Iterator[Batch]:
    """The training batches that have a label on one of the ranks.

    The others do not even go forward: that would change BatchNorm's statistics and the random
    state.
    """
    for batch in trial.loader.train(epoch):
        if trial.group.any(batch.has_labels("train")):
            yield batch


def _paced(batches: Iterator[Batch], accumulate: int) -> Iterator[tuple[Batch, bool]]:
    """Each batch, and whether a step follows it: every ``accumulate``-th, and the last one."""
    if accumulate == 1:  # without a look ahead, for which two batches must be there at once
        yield from ((batch, True) for batch in batches)
        return
    number, held = 1, next(batches, None)
    while held is not None:
        ahead = next(batches, None)
        yield held, number % accumulate == 0 or ahead is None
        number, held = number + 1, ahead


def _dilute(trial: Fit, behind: float, more: float) -> None:
    """Make gradients that are a mean over ``behind`` labels their part of one over ``more`` too."""
    if not behind:
        trial.optimizer.zero_grad(set_to_none=True)
        return
    for parameter in trial.model.parameters():
        if parameter.grad is not None:
            parameter.grad.mul_(behind / (behind + more))


@torch.no_grad()
def evaluate(trial: Fit) -> dict[str, Value]:
    """Loss and metrics of all splits from one forward pass, exact over batches and ranks."""
    model = trial.judged.eval()
    judges: dict[str, Metric] = {"loss": MeanLoss(trial.loss), **trial.metrics}
    columns = [(split, name) for split in SPLITS for name in judges]
    states: list[list[Any]] = [[] for _ in columns]
    for batch in trial.loader.evaluate():
        pred = model(batch.graph)
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
