"""Heads: blocks and a linear map, or a bare message-passing layer."""

from functools import partial

import pytest
import torch

from gymspace.models.blocks import make_block, make_layer
from gymspace.models.heads import LayerHead, NodeHead
from gymspace.models.known import Known
from gymspace.schema import Component
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
