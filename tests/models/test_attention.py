"""What every attention must do, and those between all pairs against their formulas."""

from dataclasses import replace

import networkx as nx
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.distances import shortest_paths
from gymspace.models.padded import Layout
from tests.models.batches import (
    ATTENTIONS,
    EDGE_WIDTH,
    WIDTH,
    attention,
    by_pairs,
    permuted,
    random_graph,
    random_graphs,
    together,
)

SMALL = {"bigbird": {"block": 4}}
# Whose results depend on the order of the nodes does not where every node sees every other.
ALL_SEEN = {"bigbird": {"block": 12}, "exphormer": {"degree": 12}}


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("edge_dim", [None, EDGE_WIDTH])
def test_a_graph_does_not_see_which_others_share_its_batch(name, edge_dim):
    module = attention(name, edge_dim, **SMALL.get(name, {})).eval()
    graphs = random_graphs(attr=edge_dim is not None)
    alone = torch.cat([module(graph) for graph in graphs])
    assert_close(module(together(graphs)), alone)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_no_gradient_flows_between_graphs(name):
    module, batch = attention(name, **SMALL.get(name, {})), together(random_graphs())
    x = batch.x.clone().requires_grad_()
    first = batch.batch == 0
    module(batch.with_x(x))[first].square().sum().backward()
    assert (x.grad[first] != 0).any(1).all()
    assert (x.grad[~first] == 0).all()


@pytest.mark.parametrize("name", ATTENTIONS)
def test_ids_that_no_node_has_change_nothing(name):
    module, batch = attention(name).eval(), together(random_graphs())
    ((kind, nodes),) = batch.nodes.items()
    gaps = Graph({kind: replace(nodes, batch=3 * batch.batch + 1)}, batch.edges)
    assert_close(module(gaps), module(batch))


@pytest.mark.parametrize("name", ATTENTIONS)
def test_renumbered_nodes_get_what_they_got(name):
    module, graph = attention(name, **ALL_SEEN.get(name, {})).eval(), random_graph(11)
    order = torch.randperm(11, generator=torch.Generator().manual_seed(1))
    assert_close(module(permuted(graph, order)), module(graph)[order])


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("nodes", [1, 2, 35])
def test_every_weight_gets_a_finite_gradient(name, nodes):
    """Field case E4: also with one node, and where blocks do not divide the nodes."""
    module = attention(name, dropout=0.3)
    module(random_graph(nodes)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())


@pytest.mark.parametrize("name", ATTENTIONS)
def test_a_graph_without_edges_is_attended_too(name):
    """Field cases E1 and E4."""
    graph = random_graph(6).with_links(index=torch.empty(2, 0, dtype=torch.int64))
    for edge_dim in (None, EDGE_WIDTH):
        assert attention(name, edge_dim)(graph).isfinite().all()


@pytest.mark.parametrize("name", ATTENTIONS)
def test_dropout_is_for_training_alone(name):
    module, graph = attention(name, dropout=0.5), random_graph(9)
    torch.manual_seed(1)
    assert not torch.equal(module(graph), module(graph))
    module.eval()
    assert torch.equal(module(graph), module(graph))
    assert_close(module(graph), attention(name).eval()(graph))


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("heads", [3, 0])
def test_heads_must_divide_the_width(name, heads):
    with pytest.raises(ConfigError) as caught:
        attention(name, heads=heads)
    message = f"model.attention.heads={heads}: must divide the width 8 of the layer"
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("dropout", [1.0, -0.5])
def test_dropout_is_a_share_below_all(name, dropout):
    with pytest.raises(ConfigError) as caught:
        attention(name, dropout=dropout)
    line = f"model.attention.dropout={dropout}: must be 0 or more, below 1"
    assert str(caught.value) == line


@pytest.mark.parametrize("argument", ["max_distance", "max_degree"])
def test_distances_and_degrees_are_told_apart_up_to_one_at_least(argument):
    with pytest.raises(ConfigError, match=f"model.attention.{argument}=0: must be 1 or more"):
        attention("graphormer", **{argument: 0})


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attentions_that_differ_read_differently(name):
    """Designs that read alike are taken for one: field case A5."""
    texts = {repr(attention(name, **args)) for args in ({}, {"heads": 4}, {"dropout": 0.1})}
    assert len(texts) == 3


def test_transformer_is_torchs_multihead_attention():
    module, batch = attention("transformer"), together(random_graphs())
    twin = nn.MultiheadAttention(WIDTH, 2, batch_first=True, dtype=torch.float64)
    names = {"qkv.weight": "in_proj_weight", "qkv.bias": "in_proj_bias"}
    names |= {f"out.{n}": f"out_proj.{n}" for n in ("weight", "bias")}
    twin.load_state_dict({names[n]: w for n, w in module.heads.state_dict().items()})

    layout = Layout.of(batch)
    padded = layout.pad(batch.x)
    expected = layout.unpad(twin(padded, padded, padded, key_padding_mask=~layout.filled)[0])
    assert_close(module(batch), expected)
    module(batch).square().sum().backward()
    expected.square().sum().backward()
    ours, theirs = dict(module.heads.named_parameters()), dict(twin.named_parameters())
    for name, other in names.items():
        assert_close(ours[name].grad, theirs[other].grad)


def test_graphormer_is_softmax_with_a_bias_by_distance():
    module, graph = attention("graphormer", max_distance=2, max_degree=3), random_graph(9)
    spd = shortest_paths(graph, Layout.of(graph)).long()
    assert {-1, 0, 1, 2, 3} <= set(spd.unique().tolist())
    rows = torch.where(spd < 0, 3, spd.clamp(max=2))
    bias = module.distance.weight[rows].permute(2, 0, 1)
    out, into = (torch.bincount(ends, minlength=9).clamp(max=3) for ends in graph.links.index)
    x = graph.x + module.degrees[0].weight[out] + module.degrees[1].weight[into]
    assert_close(module(graph), by_pairs(module, graph.with_x(x), bias))


def test_graphormer_takes_distances_and_biases_that_are_given():
    module, graph = attention("graphormer").eval(), random_graph(9)
    spd = shortest_paths(graph, Layout.of(graph))
    wide = torch.cat([spd, torch.full((9, 4), -1)], dim=1)
    assert_close(module(graph.with_encodings({"spd": wide})), module(graph))
    hidden = torch.zeros(9, 9, dtype=torch.float64)
    hidden[:, 1:] = -1e9
    seen = module(graph.with_encodings({"bias": hidden}))
    assert_close(seen, seen[:1].expand_as(seen))


def test_distances_are_those_of_networkx():
    graphs = random_graphs()
    batch = together(graphs)
    found = shortest_paths(batch, Layout.of(batch))
    expected = torch.full_like(found, -1)
    start = 0
    for graph in graphs:
        walk = nx.DiGraph(graph.links.index.T.tolist())
        walk.add_nodes_from(range(graph.x.size(0)))
        for source, lengths in nx.all_pairs_shortest_path_length(walk):
            for target, length in lengths.items():
                expected[start + source, target] = length
        start += graph.x.size(0)
    assert torch.equal(found, expected)


def test_distances_are_counted_once_for_a_graph():
    graph = random_graph(9)
    first = shortest_paths(graph, Layout.of(graph))
    later = graph.with_x(graph.x * 2).with_links(attr=torch.ones(18, 1))
    assert shortest_paths(later, Layout.of(later)) is first


def test_padding_and_back():
    layout = Layout.from_counts(torch.tensor([2, 3, 1]))
    x = torch.arange(6)
    assert layout.pad(x).tolist() == [[0, 1, 0], [2, 3, 4], [5, 0, 0]]
    assert layout.unpad(layout.pad(x)).tolist() == x.tolist()
    assert layout.graph_of.tolist() == [0, 0, 1, 1, 1, 2]
    assert layout.start.tolist() == [0, 2, 5]
