"""The ranks of a trial, seen from one of them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from gymspace.training.checkpoint import rng_state, set_rng_state


@dataclass(frozen=True)
class Group:
    """``size`` ranks that step together; alone, nothing is sent."""

    rank: int = 0
    size: int = 1

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model whose gradients are averaged over the ranks."""
        if self.size == 1:
            return model
        # A layer of the user's may leave parameters unused, which alone is no fault either.
        return DistributedDataParallel(model, broadcast_buffers=False, find_unused_parameters=True)

    def apart(self, model: nn.Module) -> AbstractContextManager:
        """Within it gradients of a wrapped ``model`` stay a rank's own, until one outside of it."""
        return model.no_sync() if isinstance(model, DistributedDataParallel) else nullcontext()

    def add(self, *numbers: float) -> Sequence[float]:
        """Each of ``numbers`` summed over the ranks."""
        if self.size == 1:
            return numbers
        device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
        sums = torch.tensor(numbers, dtype=torch.float64, device=device)
        distributed.all_reduce(sums)
        return sums.tolist()

    def align(self, models: Sequence[nn.Module]) -> None:
        """Take over from rank 0 what ranks gathered on graphs of their own.

        That is the models' buffers (BatchNorm's statistics) and the random state. Then it does not
        matter which rank judges what, and a checkpoint of rank 0 is one of all.
        """
        if self.size == 1:
            return
        buffers = [buffer for model in models for buffer in model.buffers()]
        held: list[Any] = [buffers, rng_state()] if self.rank == 0 else [None, None]
        distributed.broadcast_object_list(held, src=0)
        for mine, first in zip(buffers, held[0], strict=True):
            mine.copy_(first)
        set_rng_state(held[1])

    def any(self, here: bool) -> bool:
        """Whether it is so on one of the ranks."""
        return self.add(here)[0] > 0

    def merge(self, states: Sequence[Any]) -> list[Any]:
        """Each metric state merged over the ranks, in their order, the same on all of them."""
        if self.size == 1:
            return list(states)
        gathered: list[Any] = [None] * self.size
        distributed.all_gather_object(gathered, list(states))
        return [first.merge(*rest) for first, *rest in zip(*gathered, strict=True)]
