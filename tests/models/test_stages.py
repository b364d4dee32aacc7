"""Stages written out by hand, their widths, and every layer in every stage."""

from functools import partial

import pytest
import torch
from torch import nn

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import make_block
from gymspace.models.stages import SkipConcat, SkipSum, Stack
from gymspace.schema import Component
from tests.graph.toys import features
from tests.models.designs import build, descend, design, loss_of, toy_graph


def stage_of(kind, dim_in=6, layers=3, layer="general"):
    torch.manual_seed(0)
    return kind(dim_in, 6, layers, partial(make_block, design(), Component(name=layer))).double()


def test_a_stack_is_one_block_after_the_other():
    stage, graph = stage_of(Stack, dim_in=4), toy_graph()
    expected = graph
    for block in stage.blocks:
        expected = block(expected)
    torch.testing.assert_close(stage(graph).x, expected.x)


def test_skipsum_adds_every_blocks_input_to_its_output():
    stage, graph = stage_of(SkipSum), toy_graph(width=6)
    one, two, three = stage.blocks
    a = graph.x + one(graph).x
    b = a + two(graph.with_x(a)).x
    torch.testing.assert_close(stage(graph).x, b + three(graph.with_x(b)).x)


def test_skipconcat_hands_all_that_came_before_to_each_block():
    stage, graph = stage_of(SkipConcat, dim_in=4), toy_graph()
    one, two, three = stage.blocks
    a = torch.cat([graph.x, one(graph).x], dim=1)
    b = torch.cat([a, two(graph.with_x(a)).x], dim=1)
    torch.testing.assert_close(stage(graph).x, three(graph.with_x(b)).x)
    assert [block.layer.self_.in_features for block in stage.blocks] == [4, 10, 16]


@pytest.mark.parametrize("kind", [Stack, SkipSum, SkipConcat])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_stage_ends_at_its_width(kind, layers):
    assert stage_of(kind, layers=layers)(toy_graph(width=6)).x.shape == (6, 6)


@pytest.mark.parametrize("width", [1, 7])
def test_skipsum_refuses_widths_that_would_broadcast(width):
    """Field case A7: an input of width 1 would be added to every column in silence."""
    with pytest.raises(ConfigError) as caught:
        stage_of(SkipSum, dim_in=width)
    assert str(caught.value) == (
        f"model.stage=skipsum: adds a block's input of width {width} to its output of width 6: "
        f"set model.layers_pre_mp to 1 or more, or model.dim_inner to {width}"
    )


@pytest.mark.parametrize("kind", [Stack, SkipSum, SkipConcat])
def test_block_i_sees_view_i(kind, monkeypatch):
    """What a sampler trims hop by hop is asked for hop by hop."""
    hops = []
    monkeypatch.setattr(Graph, "view", lambda graph, hop: hops.append(hop) or graph)
    stage_of(kind)(toy_graph(width=6))
    assert hops == [0, 1, 2]


@pytest.mark.parametrize("kind", [SkipSum, SkipConcat])
def test_a_view_may_hold_fewer_rows(kind, monkeypatch):
    def trimmed(graph, hop):
        rows = 6 - hop
        index = graph.links.index
        kept = index[:, (index < rows).all(0)]
        return Graph.of(graph.x[:rows], kept)

    monkeypatch.setattr(Graph, "view", trimmed)
    assert stage_of(kind)(Graph.of(features(6), toy_graph().links.index)).x.shape == (4, 6)


@pytest.mark.parametrize("norm", registry.NORMS)
@pytest.mark.parametrize("stage", registry.STAGES)
@pytest.mark.parametrize("layer", registry.LAYERS)
def test_every_layer_learns_in_every_stage(layer, stage, norm):
    """Forward, backward to every weight, and a step that lowers the loss."""
    model, graph = build(layer=layer, stage=stage, norm=norm), toy_graph()
    loss_of(model, graph).backward()
    learnt = [p for p in model.parameters() if p.requires_grad]
    assert all(p.grad is not None and p.grad.isfinite().all() for p in learnt)
    before, after = descend(model, graph)
    assert after < before


@pytest.mark.parametrize("agg", registry.AGGREGATIONS)
@pytest.mark.parametrize("layer", ["general", "sage", "gin"])
@pytest.mark.parametrize("edges", ["edgeless", "awkward"])
def test_every_aggregation_learns_in_every_layer_that_takes_one(layer, agg, edges):
    """Field case E4: also without any edge."""
    before, after = descend(build(layer=layer, agg=agg), toy_graph(edges))
    assert after < before


@pytest.mark.parametrize("layer", registry.LAYERS)
def test_every_layer_learns_without_any_edge(layer):
    """Field case E4."""
    before, after = descend(build(layer=layer, l2norm="layer"), toy_graph("edgeless"))
    assert after < before


def test_a_stage_is_made_of_modules_that_train():
    assert isinstance(stage_of(Stack).blocks, nn.ModuleList)
    assert sum(p.numel() for p in stage_of(Stack).parameters()) == 3 * (2 * 36 + 12 + 1)
