"""GPS blocks against PyG's `GPSConv` and written out by hand, and the stage of them."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from torch_geometric.nn import GINConv, GPSConv

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.blocks import L2Norm
from gymspace.models.gps import GPS, GPSBlock, make_gps_block
from gymspace.models.known import Known
from gymspace.models.parts import Parts
from tests.models.batches import ATTENTIONS, EDGE_WIDTH, WIDTH, random_graphs, together
from tests.models.designs import build, descend, design, toy_graph

TWO_HEADS = {"name": "transformer", "heads": 2}


class Average(nn.Module):
    """Somebody else's attention: all nodes alike."""

    def __init__(self, dim: int, scale: float = 1.0):
        super().__init__()
        self.map = nn.Linear(dim, dim)
        self.scale = scale

    def forward(self, graph: Graph) -> Tensor:
        return self.scale * self.map(graph.x).mean(0, keepdim=True).expand_as(graph.x)


def parts_of(edge_dim: int | None = None, **model) -> Parts:
    model = {"layer": "gin", "act": "relu", "norm": "batch", "attention": TWO_HEADS} | model
    return Parts(design(dim_inner=WIDTH, **model), Known(edge_dim=edge_dim))


def block_of(edge_dim: int | None = None, **model) -> GPSBlock:
    torch.manual_seed(0)
    return make_gps_block(parts_of(edge_dim, **model), WIDTH).double()


def pairs(block: GPSBlock, twin: GPSConv) -> list[tuple[Tensor, Tensor]]:
    """Each weight of ours with PyG's."""
    *local, attended = block.branches
    heads, inner = attended.change.attention.heads, twin.attn
    found = [(heads.qkv.weight, inner.in_proj_weight), (heads.qkv.bias, inner.in_proj_bias)]
    modules = [(heads.out, inner.out_proj), (attended.norm, twin.norm2)]
    modules += [(block.feed_forward.norm, twin.norm3)]
    modules += [(block.feed_forward.change.maps[i], twin.mlp[i]) for i in (0, 3)]
    for branch in local:
        modules += [(branch.change.mlp, twin.conv.nn), (branch.norm, twin.norm1)]
    for ours, theirs in modules:
        found += zip(ours.parameters(), theirs.parameters(), strict=True)
    return found


@pytest.mark.parametrize(
    ("norm", "pygs"), [("batch", "batch_norm"), ("layer", "LayerNorm"), ("graph", "graph_norm")]
)
@pytest.mark.parametrize("layer", ["gin", "none"])
def test_a_block_is_pygs_gpsconv_on_the_same_weights(layer, norm, pygs):
    block, batch = block_of(layer=layer, norm=norm), together(random_graphs())
    conv = GINConv(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)))
    kwargs = {"mode": "node"} if norm == "layer" else None
    twin = GPSConv(8, conv if layer == "gin" else None, heads=2, norm=pygs, norm_kwargs=kwargs)
    twin = twin.double()
    weights = pairs(block, twin)
    assert len(weights) == sum(weight.requires_grad for weight in block.parameters())
    with torch.no_grad():
        for ours, theirs in weights:
            theirs.copy_(ours)

    expected = twin(batch.x, batch.links.index, batch.batch)
    out = block(batch).x
    assert_close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    for ours, theirs in weights:
        assert_close(ours.grad, theirs.grad)


def test_without_attention_it_is_the_local_layer_and_a_perceptron():
    """Known answer: both within residual and norm, and nothing else."""
    block, graph = block_of(attention=None, act="tanh"), together(random_graphs())
    (local,) = block.branches
    x = nn.functional.batch_norm(graph.x + local.change(graph).x, None, None, training=True)
    widen, _, _, narrow = block.feed_forward.change.maps
    assert widen.out_features == 2 * WIDTH
    out = x + narrow(widen(x).tanh())
    assert_close(block(graph).x, nn.functional.batch_norm(out, None, None, training=True))


def test_with_the_norm_first_the_input_is_added_once():
    block, graph = block_of(norm="layer", norm_first=True), together(random_graphs())

    def normed(x):
        return graph.with_x(nn.functional.layer_norm(x, (WIDTH,)))

    local, attended = block.branches
    inner = normed(graph.x)
    x = graph.x + local.change(inner).x + attended.change.attention(inner)
    assert_close(block(graph).x, x + block.feed_forward.change(normed(x)).x)


def test_edge_features_leave_the_block_as_its_layer_left_them():
    block = block_of(EDGE_WIDTH, layer="gatedgcn")
    graph = together(random_graphs(attr=True))
    local, _ = block.branches
    assert_close(block(graph).links.attr, local.change(graph).links.attr)
    assert not torch.equal(block(graph).links.attr, graph.links.attr)


def test_dropout_is_in_each_branch_and_inside_the_perceptron():
    block = block_of(dropout=0.25)
    assert sum(isinstance(m, nn.Dropout) and m.p == 0.25 for m in block.modules()) == 4
    graph = together(random_graphs())
    assert not torch.equal(block(graph).x, block(graph).x)
    block.eval()
    assert torch.equal(block(graph).x, block(graph).x)


def test_a_block_needs_a_layer_or_an_attention():
    with pytest.raises(ConfigError) as caught:
        block_of(layer="none", attention=None)
    assert str(caught.value) == (
        "model.attention=None: a GPS block needs one, or another layer than model.layer=none"
    )


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("layer", ["general", "none"])
@pytest.mark.parametrize("edges", ["awkward", "edgeless"])
def test_every_attention_learns_in_a_stage(name, layer, edges):
    """Field case E4: also without any edge."""
    model = build(stage="gps", layer=layer, attention={"name": name, "heads": 3})
    before, after = descend(model, toy_graph(edges))
    assert after < before


@pytest.mark.parametrize("name", ATTENTIONS)
def test_no_graph_sees_another_through_a_stage(name):
    model = build(8, stage="gps", attention={"name": name, "heads": 2}, l2norm="none").eval()
    graphs = random_graphs()
    assert_close(model(together(graphs)), torch.cat([model(graph) for graph in graphs]))


def test_somebody_elses_attention_takes_its_arguments():
    attention = {"name": "tests.models.test_gps:Average", "scale": 2.0}
    model = build(stage="gps", attention=attention)
    found = [m for m in model.modules() if type(m).__name__ == "Average"]
    assert [m.scale for m in found] == [2.0, 2.0]
    before, after = descend(model, toy_graph())
    assert after < before


def test_a_stage_says_what_its_blocks_cannot_take():
    with pytest.raises(ConfigError) as caught:
        build(4, stage="gps", layers_pre_mp=0)
    assert str(caught.value) == (
        "model.layers_pre_mp=0: a GPS block keeps its width, so features of width 4 cannot become "
        "6: set 1 or more, or model.dim_inner=4"
    )


@pytest.mark.parametrize(
    ("attention", "key"),
    [
        ({"name": "transformer"}, "model.attention.heads=4: must divide the width 6"),
        ({"name": "linear", "head": 2}, "model.attention.head=2: 'linear' takes no such argument"),
    ],
)
def test_arguments_that_do_not_fit_are_told(attention, key):
    with pytest.raises(ConfigError) as caught:
        build(stage="gps", attention=attention)
    assert str(caught.value).startswith(key)


@pytest.mark.parametrize(("jumping", "width"), [("last", 8), ("concat", 24), ("max", 8)])
def test_a_stage_jumps_as_any_other(jumping, width):
    stage = GPS(WIDTH, WIDTH, 3, parts_of(), jumping=jumping).double()
    assert stage(together(random_graphs())).x.shape == (55, width)
    assert stage.dim_out == width


def test_blocks_scale_their_rows_on_request():
    stage = GPS(WIDTH, WIDTH, 2, parts_of(l2norm="layer")).double()
    assert sum(isinstance(part, L2Norm) for part in stage.modules()) == 2
    lengths = stage(together(random_graphs())).x.norm(dim=1)
    assert_close(lengths, torch.ones_like(lengths))
