"""What a model may know of the graphs before it sees them."""

from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor

from gymspace.schema import Component


@dataclass(frozen=True, eq=False)
class Known:
    """Width of the edge features (None: there are none), and how many nodes have which in-degree.

    ``degrees`` [max degree + 1] is int64, over the training graphs. ``encodings`` are those whose
    tensors the graphs carry, ``nodes`` is the size of the largest graph. ``node_levels`` and
    ``edge_levels`` tell of each column of features its largest value + 1, if all are whole numbers
    from 0 on. ``level`` is what has a label, node or graph. Two that say the same are equal.
    """

    edge_dim: int | None = None
    degrees: Tensor | None = None
    encodings: tuple[Component, ...] = ()
    nodes: int = 0
    node_levels: tuple[int, ...] | None = None
    edge_levels: tuple[int, ...] | None = None
    level: str = "node"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._said == other._said

    def __hash__(self) -> int:
        return hash(self._said)

    @property
    def _said(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(tuple(v.tolist()) if isinstance(v, Tensor) else v for v in values)
