"""Attention between all nodes of a graph, every pair of them: plain and biased."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import degree

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.distances import shortest_paths
from gymspace.models.padded import Layout
from gymspace.models.projections import QKV, Heads, share


class Transformer(nn.Module):
    """Softmax attention of every node to all nodes of its graph (Vaswani et al. 2017).

    Memory grows with the square of a graph's nodes where weights are dropped out.
    """

    uses: frozenset[str] = frozenset()

    def __init__(self, dim: int, heads: int = 4, dropout: float = 0.0):
        super().__init__()
        self.heads = Heads(dim, heads)
        self.dropout = share(dropout)

    def extra_repr(self) -> str:
        return f"dropout={self.dropout}"

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        mask = None if layout.mask is None else layout.mask[:, None, None, :]
        dropout = self.dropout if self.training else 0.0
        return self.heads.join(softmax(self.heads.split(graph.x), layout, mask, dropout))


class Graphormer(nn.Module):
    """Softmax attention with a learnt bias for each distance, and degrees added to the features.

    Ying et al. 2021, "Do Transformers Really Perform Bad for Graph Representation?", without its
    bias from edge features. Distances are those of ``encodings["spd"]`` [N, K]: column j is the
    distance to node j of the same graph, -1 where there is no path; without that encoding they
    are counted once for each graph. From ``max_distance`` and ``max_degree`` on all are alike.
    ``encodings["bias"]`` [N, K] or [N, K, heads], with the same columns, is added as it is.
    """

    uses: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset({"spd", "bias"})  # encodings

    def __init__(
        self,
        dim: int,
        heads: int = 4,
        dropout: float = 0.0,
        max_distance: int = 20,
        max_degree: int = 64,
    ):
        super().__init__()
        for name, value in (("max_distance", max_distance), ("max_degree", max_degree)):
            if value < 1:
                raise ConfigError(f"model.attention.{name}", "must be 1 or more", value=value)
        self.heads = Heads(dim, heads)
        self.dropout = share(dropout)
        self.distance = nn.Embedding(max_distance + 2, heads)
        self.max_degree = max_degree
        self.degrees = nn.ModuleList(nn.Embedding(max_degree + 1, dim) for _ in range(2))
        for embedding in (self.distance, *self.degrees):
            nn.init.normal_(embedding.weight, std=0.02)

    def extra_repr(self) -> str:
        return f"dropout={self.dropout}"

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        x = graph.x
        for ends, embedding in zip(graph.links.index, self.degrees, strict=True):
            counts = degree(ends, x.size(0), torch.int64)
            x = x + embedding(counts.clamp(max=self.max_degree))
        dropout = self.dropout if self.training else 0.0
        mixed = softmax(self.heads.split(x), layout, self._bias(graph, layout), dropout)
        return self.heads.join(mixed)

    def _bias(self, graph: Graph, layout: Layout) -> Tensor:
        """What is added to the scores: [graphs, heads, size, size], -inf where no node is."""
        spd = graph.encodings.get("spd")
        spd = shortest_paths(graph, layout) if spd is None else spd
        last = self.distance.num_embeddings - 1
        far = spd.long().clamp(max=last - 1)
        bias = self.distance(torch.where(far < 0, last, far))
        if (given := graph.encodings.get("bias")) is not None:
            given = given.view(*given.shape[:2], -1).to(bias.dtype)
            bias = bias + _columns(given, bias.size(1))
        dense = layout.pad(_columns(bias, layout.size)).permute(0, 3, 1, 2)
        return dense.masked_fill(~layout.filled[:, None, None, :], float("-inf"))


def _columns(rows: Tensor, size: int) -> Tensor:
    """[N, K, ...] -> [N, size, ...]: cut, or filled up with zeros, which are masked later."""
    if rows.size(1) >= size:
        return rows[:, :size]
    missing = rows.new_zeros(rows.size(0), size - rows.size(1), *rows.shape[2:])
    return torch.cat([rows, missing], dim=1)


def softmax(qkv: QKV, layout: Layout, mask: Tensor | None, dropout: float) -> Tensor:
    """Values [N, heads, D] weighted by the softmax of queries times keys within each graph.

    ``mask`` broadcasts to [graphs, heads, size, size]: True or a bias where a key may be seen.
    """
    query, key, value = (layout.pad(part).transpose(1, 2) for part in qkv)
    mixed = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout
    )
    return layout.unpad(mixed.transpose(1, 2))
