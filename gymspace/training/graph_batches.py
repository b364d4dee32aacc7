"""The loader of many graphs: batches cut out of the one graph that holds them all."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.graph.task import Source, Task
from gymspace.training.batches import SPLITS, Batch, graphs_of
from gymspace.training.group import Group


@dataclass(frozen=True, eq=False)
class GraphBatches:
    """Batches of up to ``size`` graphs, over all ranks together.

    Every epoch learns once from each graph that has a row for training, in an order of its own that
    depends on ``seed`` and the epoch. A batch is dealt to the ranks graph by graph. A rank that
    gets none of one goes through a graph of another's, of which it judges nothing: all ranks must
    step together.
    """

    task: Task
    group: Group
    size: int
    seed: int
    dealt = True

    def __len__(self) -> int:
        return -(-len(self._graphs("train")) // self.size)

    def train(self, epoch: int) -> Iterator[Batch]:
        ids = self._graphs("train")
        for whole in ids[_order(len(ids), self.seed, epoch).to(ids.device)].split(self.size):
            own = whole[self.group.rank :: self.group.size]
            yield self._batch(own, whole, ("train",))

    def evaluate(self) -> Iterator[Batch]:
        ids = self._graphs(*SPLITS)
        own = ids.tensor_split(self.group.size)[self.group.rank]
        for part in own.split(self.size) if len(own) else [own]:
            yield self._batch(part, ids, SPLITS)

    def _graphs(self, *splits: str) -> Tensor:
        """Numbers of the graphs that have a row in one of ``splits``."""
        rows = torch.stack([getattr(self.task.split, name) for name in splits]).any(0)
        return self.task.source.graphs_with(rows).nonzero().squeeze(1)

    def _batch(self, own: Tensor, others: Tensor, splits: tuple[str, ...]) -> Batch:
        """What this rank goes through: of the graphs ``own`` it judges the rows of ``splits``."""
        if not len(own):
            return graphs_of(self.task, others[:1], ())
        return graphs_of(self.task, own, splits)


def graph_batches(task: Task, group: Group, batch_size: int, seed: int) -> GraphBatches:
    """Batches of ``batch_size`` graphs.

    Raises:
        ConfigError: the dataset is one graph.
    """
    require_graphs(task.source)
    return GraphBatches(task, group, batch_size, seed)


def require_graphs(source: Source) -> None:
    """Raise `ConfigError` where there is but one graph."""
    if source.bounds is None:
        problem = "needs a dataset of many graphs, and this is one: set loader=full"
        raise ConfigError("loader", problem, value="batches")


def _order(count: int, seed: int, epoch: int) -> Tensor:
    """A permutation that depends on its arguments alone."""
    (drawn,) = np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(drawn))
    return torch.randperm(count, generator=generator)
