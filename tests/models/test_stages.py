"""Stages written out by hand, their widths, and every layer in every stage."""

from functools import partial
from itertools import product

import pytest
import torch
from torch import nn

from gymspace import tables
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import make_block
from gymspace.models.stages import SkipConcat, SkipSum, Stack
from gymspace.schema import Component
from tests.graph.toys import features
from tests.models.designs import (
    KNOWN,
    UNKNOWN,
    build,
    descend,
    design,
    loss_of,
    rich_graph,
    toy_graph,
)

STAGES = ("stack", "skipsum", "skipconcat")


def stage_of(kind, dim_in=6, layers=3, layer="general", known=UNKNOWN, **arguments):
    torch.manual_seed(0)
    make = partial(make_block, design(), known, Component(name=layer))
    return kind(dim_in, 6, layers, make, **arguments).double()


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


def test_skipsum_skips_past_groups_and_the_last_has_what_is_left():
    stage, graph = stage_of(SkipSum, skip_every=2), toy_graph(width=6)
    one, two, three = stage.blocks
    a = graph.x + two(one(graph)).x
    torch.testing.assert_close(stage(graph).x, a + three(graph.with_x(a)).x)


def test_skipconcat_hands_on_what_groups_took_and_gave():
    stage, graph = stage_of(SkipConcat, dim_in=4, layers=5, skip_every=2), toy_graph()
    one, two, three, four, five = stage.blocks
    a = torch.cat([graph.x, two(one(graph)).x], dim=1)
    b = torch.cat([a, four(three(graph.with_x(a))).x], dim=1)
    torch.testing.assert_close(stage(graph).x, five(graph.with_x(b)).x)
    assert [block.layer.self_.in_features for block in stage.blocks] == [4, 6, 10, 6, 16]


def test_a_residual_is_added_where_widths_are_equal():
    stage, graph = stage_of(Stack, dim_in=4, residual=True), toy_graph()
    one, two, three = stage.blocks
    a = one(graph).x
    b = a + two(graph.with_x(a)).x
    torch.testing.assert_close(stage(graph).x, b + three(graph.with_x(b)).x)


def test_residuals_inside_the_groups_of_a_skip():
    """No block gets the same shortcut from its group and from the residual."""
    stage, graph = stage_of(SkipSum, skip_every=2, residual=True), toy_graph(width=6)
    one, two, three = stage.blocks
    a = graph.x + one(graph).x
    b = graph.x + a + two(graph.with_x(a)).x
    torch.testing.assert_close(stage(graph).x, b + three(graph.with_x(b)).x)
    assert stage_of(SkipConcat, skip_every=2, residual=True).residual == [True, True, False]


def test_jumping_takes_the_outputs_of_all_blocks():
    """Xu et al. 2018."""
    graph = toy_graph(width=6)
    one, two, three = stage_of(SkipSum).blocks
    a = graph.x + one(graph).x
    b = a + two(graph.with_x(a)).x
    outs = [a, b, b + three(graph.with_x(b)).x]
    concat, largest = (stage_of(SkipSum, jumping=jumping) for jumping in ("concat", "max"))
    assert (concat.dim_out, largest.dim_out) == (18, 6)
    torch.testing.assert_close(concat(graph).x, torch.cat(outs, dim=1))
    torch.testing.assert_close(largest(graph).x, torch.stack(outs).amax(0))


def test_jumping_leaves_out_what_skipped_past_a_block():
    stage, graph = stage_of(SkipConcat, dim_in=4, layers=2, jumping="concat"), toy_graph()
    one, two = stage.blocks
    a = one(graph).x
    b = two(graph.with_x(torch.cat([graph.x, a], dim=1))).x
    torch.testing.assert_close(stage(graph).x, torch.cat([a, b], dim=1))


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Stack, {"layers": 1, "jumping": "concat"}, {"layers": 1}),
        (SkipSum, {"residual": True}, {}),
        (SkipConcat, {"layers": 1, "skip_every": 2}, {"layers": 1}),
    ],
)
def test_what_changes_nothing_does_not_show(kind, one, other):
    """Field case A5: designs that are built alike read alike."""
    assert repr(stage_of(kind, **one)) == repr(stage_of(kind, **other))
    varied = [{}, {"jumping": "max"}, {"skip_every": 2}, {"skip_every": 2, "residual": True}]
    assert len({repr(stage_of(SkipSum, **arguments)) for arguments in varied}) == 4


def test_a_skip_past_no_block_is_refused():
    with pytest.raises(ConfigError) as caught:
        build(stage={"name": "skipsum", "skip_every": 0})
    assert str(caught.value) == "model.stage.skip_every=0: must be 1 or more"


def test_a_stack_skips_nothing():
    with pytest.raises(ConfigError, match="'stack' takes no such argument"):
        build(stage={"name": "stack", "skip_every": 2})


@pytest.mark.parametrize("kind", [Stack, SkipSum, SkipConcat])
def test_edge_features_go_from_block_to_block(kind):
    """They are neither skipped nor added: each block gets those that the one before left."""

    class Count(nn.Module):
        def forward(self, graph):
            seen.append(graph.links.attr.sum().item())
            return graph.with_links(attr=graph.links.attr + 1).with_x(graph.x[:, :6])

    seen, graph = [], toy_graph(width=6).with_links(attr=torch.zeros(7, 1))
    stage = kind(6, 6, 3, lambda dim_in, dim_out: Count(), residual=True)
    assert stage(graph).links.attr.unique().item() == 3
    assert seen == [0, 7, 14]


@pytest.mark.parametrize("jumping", ["last", "concat", "max"])
@pytest.mark.parametrize("kind", [Stack, SkipSum, SkipConcat])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_stage_ends_at_its_width(kind, layers, jumping):
    stage = stage_of(kind, layers=layers, jumping=jumping)
    assert stage.dim_out == (6 * layers if jumping == "concat" else 6)
    assert stage(toy_graph(width=6)).x.shape == (6, stage.dim_out)


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


@pytest.mark.parametrize("arguments", [{}, {"skip_every": 2, "residual": True, "jumping": "max"}])
@pytest.mark.parametrize("kind", [SkipSum, SkipConcat])
def test_a_view_may_hold_fewer_rows(kind, arguments, monkeypatch):
    def trimmed(graph, hop):
        rows = 6 - hop
        index = graph.links.index
        kept = index[:, (index < rows).all(0)]
        return Graph.of(graph.x[:rows], kept)

    monkeypatch.setattr(Graph, "view", trimmed)
    stage = stage_of(kind, **arguments)
    assert stage(Graph.of(features(6), toy_graph().links.index)).x.shape == (4, 6)


@pytest.mark.parametrize(
    ("layer", "stage"),
    # `none` cannot take in what skipconcat widens.
    sorted(set(product(tables.LAYERS, STAGES)) - {("none", "skipconcat")}),
)
def test_every_layer_learns_in_every_stage(layer, stage):
    learns(build(layer=layer, stage=stage, known=KNOWN), rich_graph())


@pytest.mark.parametrize(
    ("norm_first", "l2norm"), [(False, "stage"), (True, "stage"), (True, "none")]
)
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("norm", tables.NORMS)
def test_every_norm_learns_in_every_stage(norm, stage, norm_first, l2norm):
    learns(build(norm=norm, stage=stage, norm_first=norm_first, l2norm=l2norm), toy_graph())


def learns(model, graph):
    """Forward, backward to every weight, and a step that lowers the loss."""
    loss_of(model, graph).backward()
    learnt = [p for p in model.parameters() if p.requires_grad]
    assert all(p.grad is not None and p.grad.isfinite().all() for p in learnt)
    before, after = descend(model, graph)
    assert after < before


@pytest.mark.parametrize("agg", tables.AGGREGATIONS)
@pytest.mark.parametrize("layer", ["general", "sage", "gin"])
@pytest.mark.parametrize("edges", ["edgeless", "awkward"])
def test_every_aggregation_learns_in_every_layer_that_takes_one(layer, agg, edges):
    """Field case E4: also without any edge."""
    before, after = descend(build(layer=layer, agg=agg), toy_graph(edges))
    assert after < before


@pytest.mark.parametrize("layer", tables.LAYERS)
def test_every_layer_learns_without_any_edge(layer):
    """Field cases E1 and E4."""
    model = build(layer=layer, l2norm="layer", known=KNOWN)
    if layer == "edgeconv":  # all that it gives comes along edges
        assert model(rich_graph("edgeless")).isfinite().all()
        return
    before, after = descend(model, rich_graph("edgeless"))
    assert after < before


def test_a_stage_is_made_of_modules_that_train():
    assert isinstance(stage_of(Stack).blocks, nn.ModuleList)
    assert sum(p.numel() for p in stage_of(Stack).parameters()) == 3 * (2 * 36 + 12 + 1)
