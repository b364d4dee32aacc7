"""Heads: blocks and a linear map, or a bare message-passing layer; pooling before them."""

from functools import partial

import pytest
import torch

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.models.blocks import make_block, make_layer
from gymspace.models.heads import POOLS, GraphHead, LayerHead, NodeHead
from gymspace.models.known import Known
from gymspace.models.model import build_model
from gymspace.schema import Component
from tests.models.batches import WIDTH, random_graphs, together
from tests.models.designs import design, toy_graph


def head_of(layers):
    make = partial(make_block, design(), Known(), Component(name="linear"))
    return NodeHead(4, 3, layers, make).double()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_layers_count_the_last_linear_map(layers):
    head, graph = head_of(layers), toy_graph()
    assert len(head.blocks) == layers - 1
    expected = graph
    for block in head.blocks:
        expected = block(expected)
    scores = expected.x @ head.out.weight.T + head.out.bias
    torch.testing.assert_close(head(graph), scores)
    assert scores.shape == (6, 3)


def test_hidden_layers_have_no_bias_and_the_last_has():
    names = dict(head_of(2).named_parameters())
    assert "blocks.0.layer.linear.bias" not in names
    assert names["out.bias"].shape == (3,)


def test_a_head_of_one_layer_scores_nodes_without_seeing_edges():
    head = head_of(1)
    assert torch.equal(head(toy_graph("ring")), head(toy_graph("edgeless")))


def test_a_bare_layer_gives_its_output_as_scores():
    layer = make_layer(design(), Known(), Component(name="gcn"), 4, 3, bias=True).double()
    graph = toy_graph()
    assert torch.equal(LayerHead(layer)(graph), layer(graph).x)


def graph_head(pool="add", layers=2, **model):
    torch.manual_seed(0)
    known = Known(level="graph")
    spec = design(head={"name": "graph", "pool": pool}, layers_post_mp=layers, **model)
    return build_model(spec, WIDTH, 3, known).double().eval()


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("layers", [0, 1, 3])
def test_a_graph_has_the_same_scores_in_any_batch(pool, layers):
    """Field case E4: graphs of one node among them."""
    if (pool, layers) == ("set2set", 0):
        return
    model, graphs = graph_head(pool, layers), random_graphs()
    alone = torch.cat([model(graph) for graph in graphs])
    torch.testing.assert_close(model(together(graphs)), alone, rtol=1e-9, atol=1e-12)
    assert alone.shape == (4, 3)


@pytest.mark.parametrize("norm", ["graph", "instance", "pair", "layer", "batch"])
@pytest.mark.parametrize("first", [False, True])
def test_norms_that_go_by_graph_are_left_out_where_a_row_is_a_graph(norm, first):
    """Each would take away all that a single row has."""
    model = graph_head(layers=3, norm=norm, norm_first=first)
    scores = model(together(random_graphs()))
    assert (scores.std(dim=0) > 1e-6).all()
    kind = registry.factory("model.norm", norm)
    found = any(isinstance(part, kind) for part in model.head.modules())
    assert found == (norm in ("layer", "batch"))


@pytest.mark.parametrize(("pool", "take"), [("add", torch.sum), ("mean", torch.mean)])
def test_pooling_is_over_the_nodes_of_each_graph(pool, take):
    head = GraphHead(WIDTH, 3, 1, make_block, pool=pool).double()
    graphs = random_graphs()
    expected = torch.stack([take(graph.x, dim=0) for graph in graphs])
    torch.testing.assert_close(head(together(graphs)), head.out(expected))
    most = GraphHead(WIDTH, 3, 1, make_block, pool="max").double()
    expected = torch.stack([graph.x.max(dim=0).values for graph in graphs])
    torch.testing.assert_close(most(together(graphs)), most.out(expected))


def test_without_layers_after_it_the_last_layer_is_pooled():
    model, graph = graph_head("mean", 0), together(random_graphs())
    nodes = model.head.last(model.body(graph))
    means = torch.stack([nodes[graph.batch == number].mean(0) for number in range(4)])
    torch.testing.assert_close(model(graph), means)


@pytest.mark.parametrize(
    ("pool", "layers", "line"),
    [
        ("sum", 1, "model.head.pool=sum: unknown pooling; choices: add, mean, max, attention"),
        ("set2set", 0, "model.layers_post_mp=0: pool=set2set is wider than the scores"),
    ],
)
def test_a_pooling_that_cannot_be_is_told(pool, layers, line):
    with pytest.raises(ConfigError) as caught:
        graph_head(pool, layers)
    assert str(caught.value).startswith(line)


def test_a_head_scores_what_has_labels():
    with pytest.raises(
        ConfigError, match=r"model.head=node: scores nodes, .* set model.head=graph"
    ):
        build_model(design(layers_post_mp=0), WIDTH, 3, Known(level="graph"))
    with pytest.raises(ConfigError, match=r"model.head=graph: scores graphs"):
        build_model(design(head="graph"), WIDTH, 3, Known())
