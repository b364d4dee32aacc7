"""What a metric keeps of a batch, how such states merge, and what a metric of one's own needs."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from gymspace.training.labels import Mask

Direction = Literal["max", "min"]


@dataclass(frozen=True, eq=False)
class Sums:
    """A state that is added up: ``values`` float64 on the CPU, [sums, tasks or classes]."""

    values: Tensor

    def merge(self, *others: "Sums") -> "Sums":
        """The state of all their labels together; associative, and the order does not matter."""
        return Sums(sum((other.values for other in others), start=self.values))


@dataclass(frozen=True, eq=False)
class Rows:
    """A state that keeps every row: ``columns`` float64 or int64 on the CPU, each [rows, ...]."""

    columns: tuple[Tensor, ...]

    def merge(self, *others: "Rows") -> "Rows":
        """The state of all their rows together; merging many at once copies each row only once."""
        columns = zip(self.columns, *(other.columns for other in others), strict=True)
        return Rows(tuple(torch.cat(parts) for parts in columns))


State = Sums | Rows


class Value(NamedTuple):
    """A metric over ``n`` labels without ``undefined`` tasks or classes; NaN if none is left."""

    value: float
    n: int
    undefined: int


class Metric(Protocol):
    """What a metric is; ``direction`` says which of its values are the better ones."""

    direction: Direction

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Any:
        """The state (`Sums` or `Rows`) of one batch; without labels it is empty, not an error.

        Args:
            pred: class logits [N, C], or one output per label: [N], [N, 1] or [N, T].
            target: class ids [N] (negative: unlabelled), or float [N], [N, T] (NaN: unlabelled).
            mask: the rows to be judged, bool [N] or int64 row numbers.

        Raises:
            ConfigError: the shapes do not fit this metric.
        """
        ...

    def compute(self, state: Any) -> Value:
        """The value over all labels that were merged into ``state``."""
        ...
