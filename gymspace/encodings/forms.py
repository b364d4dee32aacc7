"""The forms in which a number of a node becomes features, as in GraphGym's feature augmentation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional

from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole

DEFAULT_DIM = 16


def _balanced(values: Tensor, dim: int) -> Tensor:
    shares = torch.arange(1, dim, dtype=values.dtype, device=values.device) / dim
    edges = torch.quantile(values, shares, dim=0) if len(values) else values.new_zeros(dim - 1, 1)
    return _above(values, edges)


def _equal_width(values: Tensor, dim: int) -> Tensor:
    if not len(values):
        return values.long()
    low, high = values.amin(dim=0), values.amax(dim=0)
    shares = torch.arange(1, dim, dtype=values.dtype, device=values.device) / dim
    return _above(values, low + shares.unsqueeze(1) * (high - low))


def _bounded(values: Tensor, dim: int) -> Tensor:
    return values.long().clamp(0, dim - 1)


def _above(values: Tensor, edges: Tensor) -> Tensor:
    """How many of its column's ``edges`` [dim - 1, C] each value is above: [N, C]."""
    columns = zip(edges.T, values.T, strict=True)
    # Rounding may put an edge beside a value that it should meet.
    near = 1e-9 * values.abs().amax() if values.numel() else 0.0
    found = [torch.searchsorted(edge.contiguous() + near, v.contiguous()) for edge, v in columns]
    return torch.stack(found, dim=1)


BINS: Mapping[str, Callable[[Tensor, int], Tensor]] = MappingProxyType(
    {"balanced": _balanced, "equal_width": _equal_width, "bounded": _bounded}
)
FORMS = ("original", "position", *BINS)


@dataclass(frozen=True)
class Form:
    """Features of numbers [N, C] in one of `FORMS`; all but ``original`` make ``dim`` of each.

    original: the number itself. position: sines and cosines of it, of wavelengths from 2 pi to
    20,000 pi. balanced, equal_width: one-hot of bins with equally many nodes, or equally wide, over
    all nodes of a dataset. bounded: one-hot of the whole part, from ``dim`` - 1 on all alike.
    """

    kind: str
    dim: int | None

    def __post_init__(self) -> None:
        if self.kind not in FORMS:
            raise ConfigError("encodings.form", "unknown form", value=self.kind, choices=FORMS)
        if self.kind == "original" and self.dim is not None:
            problem = "form=original is the number itself: leave dim out, or take another form"
            raise ConfigError("encodings.dim", problem, value=self.dim)
        if self.dim is not None:
            whole("encodings.dim", self.dim, 1)
        if self.kind == "position" and self.each % 2:
            raise ConfigError("encodings.dim", "must be even for form=position", value=self.dim)

    @property
    def each(self) -> int:
        """Features of each number."""
        return 1 if self.kind == "original" else self.dim or DEFAULT_DIM

    def bins(self, values: Tensor) -> Tensor | None:
        """The bin of each number, int64 [N, C]; None for a form without bins."""
        return BINS[self.kind](values, self.each) if self.kind in BINS else None

    def features(self, values: Tensor, bins: Tensor | None) -> Tensor:
        """[N, C] -> [N, C * each]."""
        if bins is not None:
            return functional.one_hot(bins, self.each).flatten(1).to(values.dtype)
        return values if self.kind == "original" else self._waves(values).flatten(1)

    def _waves(self, values: Tensor) -> Tensor:
        half = self.each // 2
        steps = torch.arange(half, dtype=values.dtype, device=values.device) / half
        angles = values.unsqueeze(-1) * 10_000.0**-steps
        return torch.cat([angles.sin(), angles.cos()], dim=-1)
