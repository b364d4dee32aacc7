"""Loaders: what a rank trains on and what it judges, as batches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from gymspace.graph.graph import Graph
from gymspace.graph.task import Task
from gymspace.training.group import Group
from gymspace.training.labels import has_label

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Batch:
    """A graph, its labels ``y`` ([N] or [N, T]) and, by split, this rank's rows to judge."""

    graph: Graph
    y: Tensor
    rows: Mapping[str, Tensor]

    def has_labels(self, split: str) -> bool:
        """Whether one of this rank's rows of ``split`` carries a label."""
        return bool(has_label(self.y[self.rows[split]]).any())


class Loader(Protocol):
    """Batches for one rank; each labelled row is in one rank's share, once."""

    def __len__(self) -> int:
        """The number of batches to learn from."""

    def train(self) -> Iterator[Batch]:
        """Batches to learn from, the same number on all ranks.

        A batch stays as it is until the one after the next is asked for.
        """

    def evaluate(self) -> Iterator[Batch]:
        """Batches to judge, with the rows of all splits."""


@dataclass(frozen=True)
class FullGraph:
    """One batch: the whole graph."""

    batch: Batch

    def __len__(self) -> int:
        return 1

    def train(self) -> Iterator[Batch]:
        yield self.batch

    def evaluate(self) -> Iterator[Batch]:
        yield self.batch


def full_graph(task: Task, group: Group) -> FullGraph:
    """The whole graph on every rank; the rows of each split are dealt out to the ranks in turn."""
    source = task.source
    rows = {
        name: getattr(task.split, name).nonzero().squeeze(1)[group.rank :: group.size]
        for name in SPLITS
    }
    return FullGraph(Batch(source.graph, source.y, rows))
