"""Linear attentions against PyG's, against softmax, and at their edges."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.testing import assert_close
from torch_geometric.nn.attention import SGFormerAttention

from gymspace.errors import ConfigError
from gymspace.models.attention_linear import Linear, gaussian_directions
from tests.models.batches import WIDTH, attention, by_pairs, random_graph


def test_linear_is_pygs_sgformer_on_one_graph():
    ours = attention("linear", heads=1).float()
    ours.heads.out = nn.Identity()
    theirs = SGFormerAttention(WIDTH, heads=1, head_channels=WIDTH, qkv_bias=True)
    maps = (theirs.q, theirs.k, theirs.v)
    with torch.no_grad():
        for part, weight in zip(maps, ours.heads.qkv.weight.chunk(3), strict=True):
            part.weight.copy_(weight)
            part.bias.zero_()
    graph = random_graph(9)
    graph = graph.with_x(graph.x.float())
    assert_close(ours(graph), theirs(graph.x[None])[0])
    ours(graph).square().sum().backward()
    theirs(graph.x[None]).square().sum().backward()
    grads = torch.cat([part.weight.grad for part in maps])
    assert_close(ours.heads.qkv.weight.grad, grads)


def test_linear_is_finite_where_a_node_and_its_key_are_opposed():
    """Heads of width one: every query and key is 1 or -1, and the sum below may be zero."""
    torch.manual_seed(0)
    module = Linear(WIDTH, heads=WIDTH).double()
    for seed in range(8):
        graph = random_graph(1, seed)
        assert module(graph).isfinite().all()
    module(graph).sum().backward()
    assert all(p.grad.isfinite().all() for p in module.parameters())


def test_performer_nears_softmax_with_its_number_of_features():
    """On short queries and keys: the estimate's variance grows exponentially with their length."""
    graph = random_graph(20)
    graph = graph.with_x(graph.x / 2)
    expected = by_pairs(attention("transformer"), graph, torch.zeros(1, 20, 20))
    off = []
    for features in (8, 20_000):
        module = attention("performer", features=features)
        module.heads.load_state_dict(attention("transformer").heads.state_dict())
        off.append(functional.mse_loss(module(graph), expected).sqrt() / expected.std())
    assert off[1] < 0.03 < off[0]


def test_performer_does_not_overflow():
    module, graph = attention("performer"), random_graph(20)
    large = graph.with_x(graph.x.float() * 1e3)
    assert module.float()(large).isfinite().all()


def test_performers_directions_are_orthogonal_and_as_long_as_normal_ones():
    torch.manual_seed(0)
    rows = gaussian_directions(4096, 8)
    block = rows[:8] @ rows[:8].T
    assert_close(block, block.diag().diag(), atol=1e-5, rtol=0)
    assert rows.square().sum(1).mean() == pytest.approx(8, rel=0.05)
    assert_close(rows.T @ rows / 4096, torch.eye(8), atol=0.1, rtol=0)
    assert_close(rows.mean(0), torch.zeros(8), atol=0.1, rtol=0)


def test_performer_needs_a_feature():
    with pytest.raises(ConfigError, match=r"^model\.attention\.features=0: must be 1 or more$"):
        attention("performer", features=0)
