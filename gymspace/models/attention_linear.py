"""Attention of every node to all nodes of its graph, in time and memory linear in the nodes."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.padded import Layout
from gymspace.models.projections import Heads, share

_TINY = 1e-6


class Linear(nn.Module):
    """Attention without a softmax, on queries and keys of length one.

    Wu et al. 2023, "SGFormer": (n v_i + q_i sum_j k_j v_j) / (n + q_i sum_j k_j) in a graph of n
    nodes. PyG's `SGFormerAttention` counts the empty places of a dense batch as nodes.
    ``dropout`` is that of the result, as no single weight is ever computed.
    """

    uses: frozenset[str] = frozenset()

    def __init__(self, dim: int, heads: int = 4, dropout: float = 0.0):
        super().__init__()
        self.heads = Heads(dim, heads)
        self.dropout = nn.Dropout(share(dropout))

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        query, key, value = self.heads.split(graph.x)
        query, key = functional.normalize(query, dim=-1), functional.normalize(key, dim=-1)
        query, key, value = (layout.pad(part) for part in (query, key, value))
        nodes = layout.counts.to(value.dtype).view(-1, 1, 1, 1)
        above = value * nodes + _weighted(query, key, value)
        below = nodes + (query * key.sum(1, keepdim=True)).sum(-1, keepdim=True)
        return self.dropout(self.heads.join(layout.unpad(above / below.clamp(min=_TINY))))


class Performer(nn.Module):
    """FAVOR+: softmax attention, its kernel estimated by positive orthogonal random features.

    Choromanski et al. 2021, "Rethinking Attention with Performers". ``features`` of them for each
    head (by default D ln D for heads of width D) are drawn once and kept. PyG's
    `PerformerAttention` estimates another kernel, and counts the empty places of a dense batch as
    keys. ``dropout`` is that of the result, as no single weight is ever computed.
    """

    uses: frozenset[str] = frozenset()
    directions: Tensor

    def __init__(self, dim: int, heads: int = 4, dropout: float = 0.0, features: int | None = None):
        super().__init__()
        self.heads = Heads(dim, heads)
        self.dropout = nn.Dropout(share(dropout))
        width = self.heads.dim
        rows = max(1, int(width * math.log(width))) if features is None else features
        if rows < 1:
            raise ConfigError("model.attention.features", "must be 1 or more", value=features)
        self.register_buffer("directions", gaussian_directions(rows, width))

    def extra_repr(self) -> str:
        return f"features={self.directions.size(0)}"

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        query, key, value = (layout.pad(part) for part in self.heads.split(graph.x))
        query = self._features(query, layout.filled, dims=(-1,))
        key = self._features(key, layout.filled, dims=(1, -1))
        below = (query * key.sum(1, keepdim=True)).sum(-1, keepdim=True)
        mixed = _weighted(query, key, value) / below.clamp(min=torch.finfo(below.dtype).tiny)
        return self.dropout(self.heads.join(layout.unpad(mixed)))

    def _features(self, x: Tensor, filled: Tensor, dims: tuple[int, ...]) -> Tensor:
        """Positive features whose product is exp(q k / sqrt(D)) on average, up to a factor.

        The largest exponent over ``dims`` is taken off: it cancels, and nothing overflows.
        """
        empty = ~filled[:, :, None, None]
        x = x * x.size(-1) ** -0.25
        exponent = x @ self.directions.t() - x.square().sum(-1, keepdim=True) / 2
        top = exponent.detach().masked_fill(empty, float("-inf")).amax(dims, keepdim=True)
        features = (exponent - top).masked_fill(empty, float("-inf")).exp() + _TINY
        return features.masked_fill(empty, 0.0)


def gaussian_directions(rows: int, width: int) -> Tensor:
    """Random rows [rows, width], normally distributed each, orthogonal within each ``width``."""
    blocks, triangle = torch.linalg.qr(torch.randn(-(-rows // width), width, width))
    # The decomposition picks the signs, which would tie the directions to the axes.
    blocks = blocks * triangle.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
    lengths = torch.randn(rows, width).norm(dim=1, keepdim=True)
    return blocks.transpose(-2, -1).flatten(0, 1)[:rows] * lengths


def _weighted(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """query @ (key^T @ value): each [graphs, size, heads, features], zero keys at empty places."""
    sums = torch.einsum("gnhk,gnhd->ghkd", key, value)
    return torch.einsum("gnhk,ghkd->gnhd", query, sums)
