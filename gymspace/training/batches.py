"""Loaders: what a rank trains on and what it judges, as batches."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from torch import Tensor

from gymspace.graph.collate import take
from gymspace.graph.graph import Graph
from gymspace.graph.task import Task
from gymspace.training.group import Group
from gymspace.training.labels import has_label

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Batch:
    """A graph, its labels ``y`` ([R] or [R, T]) and, by split, this rank's rows to judge.

    A row is what has a label: a node, or a graph of a batch of them.
    """

    graph: Graph
    y: Tensor
    rows: Mapping[str, Tensor]

    def has_labels(self, split: str) -> bool:
        """Whether one of this rank's rows of ``split`` carries a label."""
        return bool(has_label(self.y[self.rows[split]]).any())


class Loader(Protocol):
    """Batches for one rank; each labelled row is in one rank's share, once."""

    @property
    def dealt(self) -> bool:
        """Whether ranks see different graphs, so that what they gather on the way differs."""

    def __len__(self) -> int:
        """The number of batches to learn from."""

    def train(self, epoch: int) -> Iterator[Batch]:
        """Batches to learn from in ``epoch``, the same number on all ranks.

        What is drawn for them depends on the trial's seed and ``epoch`` alone, so that a trial that
        goes on from a checkpoint goes on with the same. A batch stays as it is until the one after
        the next is asked for.
        """

    def evaluate(self) -> Iterator[Batch]:
        """Batches to judge, one or more, with the rows of all splits."""


@dataclass(frozen=True)
class FullGraph:
    """One batch: the whole graph. Of many graphs, those to learn from may be a batch apart."""

    batch: Batch
    learn: Batch | None = None
    dealt = False

    def __len__(self) -> int:
        return 1

    def train(self, epoch: int = 0) -> Iterator[Batch]:
        yield self.batch if self.learn is None else self.learn

    def evaluate(self) -> Iterator[Batch]:
        yield self.batch


def full_graph(task: Task, group: Group) -> FullGraph:
    """All at once on every rank; the rows of each split are dealt out to the ranks in turn."""
    source, split = task.source, task.split
    rows = {
        name: getattr(split, name).nonzero().squeeze(1)[group.rank :: group.size] for name in SPLITS
    }
    whole = Batch(source.graph, source.y, rows)
    if source.bounds is None:
        return FullGraph(whole)
    # Others are not even looked at in training, as BatchNorm would.
    ids = source.graphs_with(split.train).nonzero().squeeze(1)
    learn = graphs_of(task, ids, ("train",))
    own = {name: found[group.rank :: group.size] for name, found in learn.rows.items()}
    return FullGraph(whole, replace(learn, rows=own))


def graphs_of(task: Task, ids: Tensor, splits: Collection[str]) -> Batch:
    """The graphs numbered ``ids``, with their rows of ``splits`` to be judged."""
    source = task.source
    assert source.bounds is not None
    graph, rows = take(source.graph, source.bounds, ids), source.rows_of(ids)
    judged = {name: getattr(task.split, name)[rows].nonzero().squeeze(1) for name in splits}
    none = ids.new_empty(0)
    return Batch(graph, source.y[rows], {name: judged.get(name, none) for name in SPLITS})
