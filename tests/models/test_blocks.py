"""A block: layer, norm, dropout, activation in this order, and what is left out when idle."""

from functools import partial

import pytest
import torch
from torch import nn

from gymspace import registry
from gymspace.models.blocks import L2Norm, make_block
from gymspace.schema import Component
from tests.models.designs import design, toy_graph


def block_of(layer="general", dim_in=4, dim_out=6, **model):
    torch.manual_seed(0)
    return make_block(design(**model), Component(name=layer), dim_in, dim_out).double()


def test_norm_dropout_and_activation_follow_in_graphgyms_order():
    block = block_of(norm="batch", dropout=0.5, act="tanh")
    assert [type(part) for part in block.post] == [nn.BatchNorm1d, nn.Dropout, nn.Tanh]
    assert block.post[1].p == 0.5
    block.eval()
    graph = toy_graph()
    normed = block.post[0](block.layer(graph).x)
    torch.testing.assert_close(block(graph).x, normed.tanh())


def test_parts_that_do_nothing_are_left_out():
    assert len(block_of(norm="none", dropout=0.0, act="none").post) == 0
    assert [type(p) for p in block_of(norm="none", act="relu").post] == [nn.ReLU]


@pytest.mark.parametrize("norm", registry.NORMS)
def test_a_norm_takes_the_place_of_the_bias(norm):
    """A shift right before BatchNorm would be taken out again."""
    names = [name for name, _ in block_of("linear", norm=norm).layer.named_parameters()]
    assert ("linear.bias" in names) == (norm == "none")


@pytest.mark.parametrize("act", registry.ACTIVATIONS)
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
    make = partial(make_block, design(), Component(name="general"))
    one, other = (set(map(id, block.modules())) for block in (make(4, 6), make(4, 6)))
    assert not one & other
