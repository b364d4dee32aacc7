"""Attention of every node to few others, along edges: an expander's, the graph's, to hubs."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import scatter, softmax

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.expander import expander
from gymspace.models.layer import edge_features
from gymspace.models.padded import Layout
from gymspace.models.projections import QKV, Heads, share


class Way(NamedTuple):
    """Edges of one kind: [2, E] from the seen to the seeing node, and what gates their keys.

    ``gate`` broadcasts to [E, heads, D].
    """

    edges: Tensor
    gate: Tensor


class Exphormer(nn.Module):
    """Softmax attention along the edges of a random regular graph, its own edges, and a few hubs.

    Shirzad et al. 2023, "Exphormer: Sparse Transformers for Graphs". All nodes of the expander
    have ``degree`` neighbours; it is the same for all graphs of as many nodes and the same
    ``seed``. With ``local`` the graph's own edges join in, with their features if it has any.
    ``virtual`` hubs for each graph first look at all its nodes with a learnt query, and are then
    seen by all (there, they are features that go from layer to layer). Keys are gated by kind of
    edge. Results depend on the order of the nodes, through the expander.
    """

    def __init__(
        self,
        dim: int,
        heads: int = 4,
        dropout: float = 0.0,
        degree: int = 6,
        seed: int = 0,
        local: bool = True,
        virtual: int = 1,
        edge_dim: int | None = None,
    ):
        super().__init__()
        if degree < 4 or degree % 2:
            raise ConfigError("model.attention.degree", "must be even, 4 or more", value=degree)
        if virtual < 0:
            raise ConfigError("model.attention.virtual", "must be 0 or more", value=virtual)
        self.heads = Heads(dim, heads)
        self.dropout = nn.Dropout(share(dropout))
        self.degree, self.seed, self.local, self.virtual = degree, seed, local, virtual
        self.edge_dim = edge_dim if local else None
        self.uses = frozenset({"edge_attr"} if self.edge_dim else ())
        self.expander_gate = self._gate()
        self.local_gate = self._gate() if local and edge_dim is None else None
        self.edge = nn.Linear(edge_dim, dim) if edge_dim and local else None
        self.hub_gate = self._gate() if virtual else None
        self.hubs = nn.Parameter(torch.empty(virtual, heads, self.heads.dim)) if virtual else None
        if self.hubs is not None:
            nn.init.normal_(self.hubs)

    def _gate(self) -> nn.Parameter:
        return nn.Parameter(torch.ones(self.heads.heads, self.heads.dim))

    def extra_repr(self) -> str:
        return f"degree={self.degree}, seed={self.seed}, local={self.local}, virtual={self.virtual}"

    def forward(self, graph: Graph) -> Tensor:
        """New node features [N, dim]."""
        layout = Layout.of(graph)
        query, key, value = self.heads.split(graph.x)
        ways = list(self._ways(graph, layout))
        if self.hubs is not None and self.hub_gate is not None:
            hubs = self._hubs(key, value, layout)
            key, value = torch.cat([key, hubs.key]), torch.cat([value, hubs.value])
            ways.append(Way(self._to_hubs(layout), self.hub_gate))
        mixed = along(ways, QKV(query, key, value), self.dropout)
        return self.heads.join(mixed)

    def _ways(self, graph: Graph, layout: Layout) -> Iterator[Way]:
        yield Way(expanders(layout, self.degree, self.seed), self.expander_gate)
        if self.edge is not None and self.edge_dim is not None:
            gate = self.edge(edge_features(graph, self.edge_dim))
            yield Way(graph.links.index, gate.unflatten(-1, (self.heads.heads, -1)))
        elif self.local_gate is not None:
            yield Way(graph.links.index, self.local_gate)

    def _hubs(self, key: Tensor, value: Tensor, layout: Layout) -> QKV:
        """Hubs after they saw the nodes: [graphs * virtual, heads, D] each."""
        assert self.hubs is not None
        keys, values = (layout.pad(part).transpose(1, 2) for part in (key, value))
        queries = self.hubs.transpose(0, 1).expand(keys.size(0), -1, -1, -1)
        mask = None if layout.mask is None else layout.mask[:, None, None, :]
        seen = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.heads.split(seen.permute(0, 2, 1, 3).flatten(2).flatten(0, 1))

    def _to_hubs(self, layout: Layout) -> Tensor:
        """Edges from each hub, counted after the nodes, to each node of its graph."""
        owner = layout.graph_of
        hubs = owner[:, None] * self.virtual + torch.arange(self.virtual, device=owner.device)
        nodes = torch.arange(owner.numel(), device=owner.device)
        return torch.stack([owner.numel() + hubs.view(-1), nodes.repeat_interleave(self.virtual)])


def expanders(layout: Layout, degree: int, seed: int) -> Tensor:
    """Edges of one expander for each graph: [2, E]."""
    counts, starts = layout.counts.tolist(), layout.start.tolist()
    parts = [expander(n, degree, seed) + at for n, at in zip(counts, starts, strict=True)]
    return torch.cat(parts, dim=1).to(layout.counts.device)


def along(ways: list[Way], qkv: QKV, dropout: nn.Dropout) -> Tensor:
    """Values weighted by a softmax over all edges that reach a node; zeros where none does."""
    source, target = torch.cat([way.edges for way in ways], dim=1)
    scores = torch.cat([_scores(way, qkv) for way in ways]) * qkv.query.size(-1) ** -0.5
    nodes = qkv.query.size(0)
    weights = dropout(softmax(scores, target, num_nodes=nodes))
    return scatter(weights[..., None] * qkv.value[source], target, 0, nodes, reduce="sum")


def _scores(way: Way, qkv: QKV) -> Tensor:
    source, target = way.edges
    return (qkv.query[target] * way.gate * qkv.key[source]).sum(-1)
