"""A block: layer, norm, dropout, activation in this order, and what is left out when idle.

Also what comes before the blocks: edges dropped at random.
"""

from functools import partial

import pytest
import torch
from torch import nn

from gymspace import registry, tables
from gymspace.errors import ConfigError
from gymspace.models.blocks import DropEdge, L2Norm, make_block
from gymspace.models.known import Known
from gymspace.models.norms import Batch
from gymspace.schema import Component
from tests.models.designs import design, toy_graph


def block_of(layer="general", dim_in=4, dim_out=6, **model):
    torch.manual_seed(0)
    return make_block(design(**model), Known(), Component(name=layer), dim_in, dim_out).double()


def test_norm_dropout_and_activation_follow_in_graphgyms_order():
    block = block_of(norm="batch", dropout=0.5, act="tanh")
    assert [type(part) for part in block.post] == [Batch, nn.Dropout, nn.Tanh]
    assert block.post[1].p == 0.5
    block.eval()
    graph = toy_graph()
    normed = block.post[0](block.layer(graph).x)
    torch.testing.assert_close(block(graph).x, normed.tanh())


def test_a_norm_may_come_before_the_layer():
    block, graph = block_of(norm="batch", act="tanh", norm_first=True).eval(), toy_graph()
    assert [type(part) for part in block.pre] == [Batch]
    normed = graph.with_x(block.pre[0](graph.x))
    torch.testing.assert_close(block(graph).x, block.layer(normed).x.tanh())


def test_a_layer_keeps_its_bias_where_the_norm_comes_first():
    assert "layer.linear.bias" in dict(block_of("linear", norm_first=True).named_parameters())


def test_no_norm_is_neither_first_nor_last():
    """Field case A5: designs that are built alike read alike."""
    one, other = (block_of(norm="none", norm_first=first) for first in (True, False))
    assert repr(one) == repr(other)
    assert repr(block_of(norm_first=True)) != repr(block_of(norm_first=False))


def test_a_norm_over_a_single_feature_is_refused():
    """Field case A7: LayerNorm makes an input of width 1 the same for every node."""
    with pytest.raises(ConfigError) as caught:
        block_of(dim_in=1, norm="layer", norm_first=True)
    assert str(caught.value) == (
        "model.norm=layer: norms every node's features, and makes the same of all where there is "
        "one: set model.norm_first=false"
    )
    assert block_of(dim_in=1, norm="batch", norm_first=True)(toy_graph(width=1)).x.shape == (6, 6)


def test_parts_that_do_nothing_are_left_out():
    assert len(block_of(norm="none", dropout=0.0, act="none").post) == 0
    assert [type(p) for p in block_of(norm="none", act="relu").post] == [nn.ReLU]


@pytest.mark.parametrize("norm", tables.NORMS)
def test_a_norm_takes_the_place_of_the_bias(norm):
    """A shift right before BatchNorm would be taken out again."""
    names = [name for name, _ in block_of("linear", norm=norm).layer.named_parameters()]
    assert ("linear.bias" in names) == (norm == "none")


@pytest.mark.parametrize("act", tables.ACTIVATIONS)
def test_every_activation_acts_on_the_layers_output(act):
    block = block_of("linear", norm="none", act=act)
    graph = toy_graph()
    function = registry.build("model.act", Component(name=act)).double()
    torch.testing.assert_close(block(graph).x, function(block.layer(graph).x))


def test_an_activation_takes_arguments():
    block = block_of(act={"name": "leaky_relu", "negative_slope": 0.5})
    assert block.post[-1].negative_slope == 0.5


@pytest.mark.parametrize(("l2norm", "scaled"), [("layer", True), ("stage", False), ("none", False)])
def test_rows_have_length_one_where_each_layer_is_scaled(l2norm, scaled):
    out = block_of(l2norm=l2norm)(toy_graph()).x
    lengths = out.norm(dim=1)
    assert torch.allclose(lengths, torch.ones_like(lengths)) == scaled


def test_a_row_of_zeros_stays_one():
    graph = toy_graph()
    x = graph.x.clone()
    x[2] = 0
    x.requires_grad_()
    out = L2Norm()(graph.with_x(x)).x
    out.sum().backward()
    assert not out[2].any()
    assert x.grad.isfinite().all()


def test_dropout_is_drawn_in_training_only():
    block, graph = block_of("linear", norm="none", act="none", dropout=0.5), toy_graph()
    out = block(graph).x
    assert 0 < (out == 0).sum() < out.numel()
    block.eval()
    assert not (block(graph).x == 0).any()


@pytest.mark.parametrize(("agg", "kind"), [(None, "Mean"), ("max", "Max"), ("add", "Add")])
def test_a_layer_averages_or_sums_unless_told_otherwise(agg, kind):
    assert type(block_of("sage", agg=agg).layer.agg).__name__ == kind


@pytest.mark.parametrize("layer", ["general", "gin"])
def test_a_layer_without_a_wish_sums(layer):
    assert type(block_of(layer).layer.agg).__name__ == "Add"


def test_no_two_blocks_share_anything():
    make = partial(make_block, design(), Known(), Component(name="general"))
    one, other = (set(map(id, block.modules())) for block in (make(4, 6), make(4, 6)))
    assert not one & other


def test_dropped_edges_take_their_data_along():
    graph = toy_graph(weighted=True)
    graph = graph.with_links(attr=graph.links.weight.unsqueeze(1))
    torch.manual_seed(0)
    links = DropEdge(0.5)(graph).links
    kept = [graph.links.weight.tolist().index(weight) for weight in links.weight.tolist()]
    assert 0 < len(kept) < 7
    assert torch.equal(links.index, graph.links.index[:, kept])
    assert torch.equal(links.attr.squeeze(1), links.weight)


def test_edges_are_dropped_in_training_only():
    graph = toy_graph("ring")
    assert DropEdge(0.5).eval()(graph) is graph
    kept = [DropEdge(0.25)(graph).links.index.size(1) for _ in range(400)]
    assert abs(sum(kept) / 2400 - 0.75) < 0.05


def test_an_edgeless_graph_has_none_to_drop():
    """Field case E4."""
    assert DropEdge(0.5)(toy_graph("edgeless")).links.index.shape == (2, 0)
