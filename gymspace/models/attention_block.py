"""Attention by blocks of nodes that follow each other: to neighbours, to the first, at random."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.padded import Layout
from gymspace.models.projections import Heads, share


class BigBird(nn.Module):
    """Softmax attention between blocks of nodes, in memory linear in the nodes.

    Zaheer et al. 2020, "Big Bird". Nodes stand in blocks of ``block`` in their order; a block sees
    itself, ``window`` blocks on either side, the first block, and ``random`` others, drawn once
    for each number of blocks. The first block sees all. Results depend on the order of the nodes.
    """

    uses: frozenset[str] = frozenset()

    def __init__(
        self,
        dim: int,
        heads: int = 4,
        dropout: float = 0.0,
        block: int = 16,
        window: int = 1,
        random: int = 1,
        seed: int = 0,
    ):
        super().__init__()
        for name, value, least in (
            ("block", block, 1),
            ("window", window, 0),
            ("random", random, 0),
        ):
            if value < least:
                raise ConfigError(
                    f"model.attention.{name}", f"must be {least} or more", value=value
                )
        self.heads = Heads(dim, heads)
        self.dropout = share(dropout)
        self.block, self.window, self.random, self.seed = block, window, random, seed

    def extra_repr(self) -> str:
        shape = f"block={self.block}, window={self.window}, random={self.random}"
        return f"{shape}, seed={self.seed}, dropout={self.dropout}"

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        blocks = Blocks.of(layout, self.block)
        qkv = self.heads.split(graph.x)
        dropout = self.dropout if self.training else 0.0
        query, key, value = (blocks.fill(part) for part in qkv)
        seen = self._seen(blocks)
        mask = ((seen >= 0)[:, :, None] & blocks.filled[seen]).flatten(1)
        out = _softmax(query, key[seen].flatten(1, 2), value[seen].flatten(1, 2), mask, dropout)
        everyone = layout.pad(qkv.key), layout.pad(qkv.value), layout.filled
        first = _softmax(query[blocks.start], *everyone, dropout)
        out = out.index_copy(0, blocks.start, first)
        return self.heads.join(out.flatten(0, 1)[blocks.place])

    def _seen(self, blocks: "Blocks") -> Tensor:
        """The blocks that each block sees [blocks, M], -1 where it sees fewer than M."""
        parts = []
        for count, start in zip(blocks.counts.tolist(), blocks.start.tolist(), strict=True):
            seen = seen_blocks(count, self.window, self.random, self.seed)
            parts.append(torch.where(seen < 0, seen, seen + start))
        return torch.cat(parts).to(blocks.start.device)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Nodes of each graph in blocks of ``size``, all graphs' blocks in one row.

    ``counts`` and ``start`` [graphs] are a graph's blocks and its first one, ``place`` [N] where
    a node stands in [blocks * size], ``filled`` [blocks, size] which places hold a node.
    """

    counts: Tensor
    start: Tensor
    place: Tensor
    filled: Tensor

    @classmethod
    def of(cls, layout: Layout, size: int) -> "Blocks":
        """Blocks of ``size`` nodes for the graphs of ``layout``."""
        counts = (layout.counts + size - 1) // size
        start = counts.cumsum(0) - counts
        nodes = torch.arange(int(layout.counts.sum()), device=counts.device)
        place = nodes + (start * size - layout.start).repeat_interleave(layout.counts)
        filled = torch.zeros(int(counts.sum()) * size, dtype=torch.bool, device=counts.device)
        filled[place] = True
        return cls(counts, start, place, filled.view(-1, size))

    def fill(self, x: Tensor) -> Tensor:
        """[N, ...] -> [blocks, size, ...], zeros where there is no node."""
        padded = x.new_zeros(self.filled.numel(), *x.shape[1:])
        return padded.index_copy(0, self.place, x).view(*self.filled.shape, *x.shape[1:])


@lru_cache(maxsize=1024)
def seen_blocks(count: int, window: int, random: int, seed: int) -> Tensor:
    """Which of ``count`` blocks each sees: [count, M], none twice, -1 where fewer than M.

    The same arguments give the same blocks.
    """
    own = torch.arange(count)[:, None]
    near = own + torch.arange(-window, window + 1)
    near = near.masked_fill((near < 0) | (near >= count), -1)
    draws = torch.Generator().manual_seed(seed)
    far = torch.full((count, random), -1)
    if count > 2 * window + 1:
        jumps = torch.randint(window + 1, count - window, far.shape, generator=draws)
        far = (own + jumps) % count
    seen = torch.cat([near, torch.zeros_like(own), far], dim=1).sort(dim=1).values
    again = torch.zeros_like(seen, dtype=torch.bool)
    again[:, 1:] = seen[:, 1:] == seen[:, :-1]
    return seen.masked_fill(again, -1)


def _softmax(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, dropout: float) -> Tensor:
    """[blocks, size, heads, D] over keys [blocks, K, heads, D] where ``mask`` [blocks, K]."""
    out = functional.scaled_dot_product_attention(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        attn_mask=mask[:, None, None, :],
        dropout_p=dropout,
    )
    return out.transpose(1, 2)
