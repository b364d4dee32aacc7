"""Whole models: sizes against GraphGym's published table, widths, and what a design says."""

import csv
from itertools import product

import pytest
import torch
from torch import nn

from gymspace.errors import ConfigError
from gymspace.graph import graph as module
from gymspace.graph.adjacency import Sparse
from gymspace.models.blocks import Block, DropEdge, FinalNorm, L2Norm
from gymspace.models.heads import LayerHead, NodeHead
from gymspace.models.model import build_model
from tests.models.designs import build, descend, design, toy_graph

# `params` of GraphGym's example grid on Cora by (pre, MP, post layers): stack, skipsum, skipconcat.
PUBLISHED = {
    (1, 2, 1): (108936, 108936, 117128),
    (1, 2, 2): (113160, 113160, 121352),
    (1, 4, 1): (125576, 125576, 174728),
    (1, 4, 2): (129800, 129800, 178952),
    (1, 6, 1): (142216, 142216, 265096),
    (1, 6, 2): (146440, 146440, 269320),
    (2, 2, 1): (113160, 113160, 121352),
    (2, 2, 2): (117384, 117384, 125576),
    (2, 4, 1): (129800, 129800, 178952),
    (2, 4, 2): (134024, 134024, 183176),
    (2, 6, 1): (146440, 146440, 269320),
    (2, 6, 2): (150664, 150664, 273544),
}
STAGES = ("stack", "skipsum", "skipconcat")
GRID = [
    (*layers, stage, n)
    for layers, row in PUBLISHED.items()
    for stage, n in zip(STAGES, row, strict=True)
]
FEATURES, CLASSES = 1433, 7


def params(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def prelus(model):
    return [part for part in model.modules() if isinstance(part, nn.PReLU)]


def cora_model(pre, mp, post, stage):
    spec = design(layers_pre_mp=pre, layers_mp=mp, layers_post_mp=post, stage=stage, dim_inner=64)
    with torch.device("meta"):
        return build_model(spec, FEATURES, CLASSES)


@pytest.mark.parametrize(("pre", "mp", "post", "stage", "published"), GRID)
def test_sizes_are_those_that_graphgym_published(pre, mp, post, stage, published):
    """Field case A6: GraphGym counts one shared PReLU, and there is one for each block."""
    model = cora_model(pre, mp, post, stage)
    sites = pre + mp + (post - 1)
    assert params(model) == published - 1 + sites
    assert len({id(part.weight) for part in prelus(model)}) == sites


def test_the_table_above_is_the_published_one(shared_data):
    folder = shared_data / "graphgym_results" / "pyg" / "example_node_grid_example" / "agg"
    with (folder / "test_best.csv").open() as file:
        rows = [
            (
                *(int(row[k]) for k in ("l_pre", "l_mp", "l_post")),
                row["stage"],
                float(row["params"]),
            )
            for row in csv.DictReader(file)
        ]
    assert sorted(rows) == sorted(GRID)


def test_every_prelu_learns_by_itself():
    """Field case A6: PReLU is not shared by the sites of a network."""
    model = build(layers_pre_mp=2, layers_mp=2, layers_post_mp=2)
    assert len(prelus(model)) == 5
    model(toy_graph()).square().sum().backward()
    slopes = [part.weight.grad.item() for part in prelus(model)]
    assert len(set(slopes)) == 5


WIDTHS = list(product([0, 1], [0, 1, 2, 3], STAGES, [0, 1], [1, 7]))


def misfit(pre, mp, stage, post, width):
    """The key to blame where a design cannot be, else None."""
    if post == 0 and mp == 0:
        return "model.layers_post_mp"
    inside = mp - (post == 0)
    if stage == "skipsum" and inside and pre == 0 and width != 6:
        return "model.stage"
    return None


@pytest.mark.parametrize(("pre", "mp", "stage", "post", "width"), WIDTHS)
def test_every_cross_of_widths_trains_or_is_refused(pre, mp, stage, post, width):
    """Field case A7: layer counts down to zero, input of width 1."""
    model = {"layers_pre_mp": pre, "layers_mp": mp, "layers_post_mp": post, "stage": stage}
    key = misfit(pre, mp, stage, post, width)
    if key is not None:
        with pytest.raises(ConfigError, match=key):
            build(width, **model)
        return
    graph = toy_graph(width=width)
    built = build(width, **model)
    assert built(graph).shape == (6, 3)
    before, after = descend(built, graph)
    assert after < before


SKIPS = ["stack", *({"name": name, "skip_every": n} for name in STAGES[1:] for n in (1, 2))]
CROSS = list(product([0, 1], [0, 1, 2, 3], SKIPS, ["last", "concat", "max"], [False, True], [1, 7]))


@pytest.mark.parametrize(("pre", "mp", "stage", "jumping", "residual", "width"), CROSS)
def test_every_cross_of_skips_trains_or_is_refused(pre, mp, stage, jumping, residual, width):
    """Field case A7: also where groups do not divide the layers, and with two post layers."""
    model = {"layers_pre_mp": pre, "layers_mp": mp, "stage": stage, "layers_post_mp": 2}
    model |= {"jumping": jumping, "residual": residual}
    if stage != "stack" and stage["name"] == "skipsum" and mp and not pre:
        with pytest.raises(ConfigError, match=r"^model\.stage=skipsum: adds a block's input"):
            build(width, **model)
        return
    before, after = descend(build(width, **model), toy_graph(width=width))
    assert after < before


def test_a_bare_head_takes_what_jumps():
    model = build(layers_mp=4, layers_post_mp=0, jumping="concat")
    assert model.head.layer.self_.in_features == 18
    assert model(toy_graph()).shape == (6, 3)


def test_skipsum_fits_an_input_as_wide_as_its_blocks():
    assert build(6, layers_pre_mp=0, stage="skipsum")(toy_graph(width=6)).shape == (6, 3)


def test_a_model_without_any_layer_says_so():
    with pytest.raises(ConfigError) as caught:
        build(layers_mp=0, layers_post_mp=0)
    assert str(caught.value) == "model.layers_post_mp=0: needs model.layers_mp of 1 or more"


def parts(model):
    """Kinds of the model's parts, in order."""
    return [type(part).__name__ for part in model.body] + [type(model.head).__name__]


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((1, 2, 1), ["Block", "SkipConcat", "L2Norm", "NodeHead"]),
        ((2, 1, 2), ["Block", "Block", "SkipConcat", "L2Norm", "NodeHead"]),
        ((0, 2, 1), ["SkipConcat", "L2Norm", "NodeHead"]),
        ((1, 0, 1), ["Block", "NodeHead"]),
        ((0, 0, 1), ["NodeHead"]),
        ((0, 2, 0), ["SkipConcat", "L2Norm", "LayerHead"]),
        ((1, 1, 0), ["Block", "LayerHead"]),
        ((0, 1, 0), ["LayerHead"]),
    ],
)
def test_what_a_design_is_made_of(layers, expected):
    pre, mp, post = layers
    model = build(layers_pre_mp=pre, layers_mp=mp, layers_post_mp=post, stage="skipconcat")
    assert parts(model) == expected


def test_the_last_layer_is_the_head_where_no_layer_follows():
    """Kipf & Welling's GCN: two layers, the second gives the scores."""
    model = build(
        1433, 7, layer="gcn", layers_pre_mp=0, layers_post_mp=0, dim_inner=16, norm="none"
    )
    weights = [tuple(p.shape) for p in model.parameters() if p.dim() == 2]
    assert weights == [(1433, 16), (16, 7)]
    assert model.head.layer.bias.shape == (7,)


@pytest.mark.parametrize("l2norm", ["stage", "layer", "none"])
def test_where_features_are_scaled_to_length_one(l2norm):
    model = build(layers_pre_mp=1, layers_mp=2, layers_post_mp=2, l2norm=l2norm)
    scaled = [part.l2norm for part in model.modules() if isinstance(part, Block)]
    assert scaled == [l2norm == "layer"] * 4
    assert sum(isinstance(part, L2Norm) for part in model.modules()) == (l2norm == "stage")


def test_the_stages_output_has_length_one():
    model = build(l2norm="stage")
    torch.testing.assert_close(
        model.body(toy_graph()).x.norm(dim=1), torch.ones(6, dtype=torch.float64)
    )


def test_feature_dropout_is_drawn_in_training_only():
    model, graph = build(feature_dropout=0.5, norm="none"), toy_graph()
    assert not torch.equal(model(graph), model(graph))
    model.eval()
    assert torch.equal(model(graph), model(graph))
    assert not any(isinstance(part, nn.Dropout) and part.p for part in build().modules())


def test_feature_dropout_keeps_sparse_features_sparse():
    seen = []
    model = build(feature_dropout=0.5)
    model.body.register_forward_pre_hook(lambda module, inputs: seen.append(*inputs))
    for mode in (True, False):
        model.train(mode)(toy_graph().with_sparse_x())
    assert all(isinstance(graph.nodes["node"].features, Sparse) for graph in seen)
    assert [graph.nodes["node"].features.matrix.values().eq(0).any().item() for graph in seen] == [
        True,
        False,
    ]


def test_edges_are_dropped_once_for_all_layers(monkeypatch):
    """Each step draws anew and prepares its own adjacency, evaluation has that of all edges."""
    seen = []
    monkeypatch.setattr(module.Edges, "adj", spied(module.Edges.adj, seen))
    model, graph = build(drop_edge=0.5, layers_mp=3, layers_post_mp=0), toy_graph("ring")
    for training in (True, True, False, True, False):
        model.train(training)(graph)
    steps = [seen[i : i + 3] for i in range(0, 15, 3)]
    assert [len({id(adj) for adj in step}) for step in steps] == [1] * 5
    assert steps[2][0] is steps[4][0]
    assert torch.equal(steps[2][0].index, graph.links.index)
    drawn = {str(steps[i][0].index.tolist()) for i in (0, 1, 3)}
    assert len(drawn) == 3


def spied(method, seen):
    def spy(*arguments):
        seen.append(method(*arguments))
        return seen[-1]

    return spy


def test_dropped_edges_change_no_evaluation():
    graph = toy_graph()
    kept, dropped = (build(drop_edge=p, norm="none") for p in (0.0, 0.5))
    assert torch.equal(kept.eval()(graph), dropped.eval()(graph))
    assert not torch.equal(kept.train()(graph), dropped.train()(graph))
    assert not any(isinstance(part, DropEdge) for part in build().modules())


def test_defaults_draw_nothing():
    """With none of its dropouts on, a step leaves the random numbers to others."""
    model, before = build(), torch.get_rng_state()
    model(toy_graph()).sum().backward()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("layer", ["general", "gcn", "sage", "gat", "gin"])
@pytest.mark.parametrize("pre", [0, 1])
def test_sparse_features_change_nothing_but_the_rounding(layer, pre):
    graph = toy_graph(width=12)
    graph = graph.with_x(graph.x * (graph.x > 1))
    model = build(12, layer=layer, layers_pre_mp=pre)
    outs, grads = [], []
    for asked in (graph, graph.with_sparse_x()):
        out = model(asked)
        learnt = [p for p in model.parameters() if p.requires_grad]
        outs.append(out)
        grads.append(torch.autograd.grad(out.square().sum(), learnt))
    torch.testing.assert_close(*outs)
    torch.testing.assert_close(*grads)


def test_adjacencies_are_prepared_once_for_all_layers_and_epochs(monkeypatch):
    kinds = []
    monkeypatch.setattr(
        module,
        "prepare",
        lambda kind, *rest, prepare=module.prepare: kinds.append(kind) or prepare(kind, *rest),
    )
    graph = toy_graph()
    for layer in ("general", "gcn", "gin"):
        model = build(layer=layer, layers_mp=3)
        for _ in range(2):
            model(graph).sum().backward()
    assert kinds == ["sum", "gcn"]


def test_one_seed_gives_one_set_of_weights():
    one, same, other = (build(seed=seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_a_model_comes_back_from_its_state():
    model, graph = build(), toy_graph()
    other = build(seed=1)
    other.load_state_dict(model.state_dict())
    assert torch.equal(model.eval()(graph), other.eval()(graph))


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (
            {"layer": {"name": "gat", "heads": 4}},
            "model.layer.heads=4: must divide the layer's width 6",
        ),
        (
            {"layer": {"name": "gat", "heads": 0}, "layers_post_mp": 0},
            "model.layer.heads=0: must divide the layer's width 6",
        ),
        (
            {"layer": {"name": "mlp", "layer": 3}},
            "model.layer.layer=3: 'mlp' takes no such argument; choices: layers;"
            " did you mean layers?",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_told(model, line):
    with pytest.raises(ConfigError) as caught:
        build(**model)
    assert str(caught.value) == line


def test_scores_are_a_row_for_each_node():
    assert build(4, 1)(toy_graph()).shape == (6, 1)
    assert isinstance(build().head, NodeHead)
    assert isinstance(build(layers_post_mp=0).head, LayerHead)


@pytest.mark.parametrize("stage", ["stack", "skipsum", "skipconcat"])
def test_what_leaves_a_stage_that_norms_first_is_normed(stage):
    model, graph = build(stage=stage, norm="layer", norm_first=True, l2norm="none"), toy_graph()
    assert isinstance(model.body[-1], FinalNorm)
    torch.testing.assert_close(model.body(graph).x.mean(dim=1), torch.zeros(6).double())


@pytest.mark.parametrize(
    "other", [{"norm_first": False}, {"l2norm": "stage"}, {"norm": "none"}, {"layers_mp": 0}]
)
def test_no_stage_is_normed_twice_or_without_need(other):
    model = build(**{"norm": "layer", "norm_first": True, "l2norm": "none", **other})
    assert not any(isinstance(part, FinalNorm) for part in model.modules())


def test_a_final_norm_over_a_single_feature_is_refused():
    """Field case A7: all nodes would be alike."""
    shape = {"dim_inner": 1, "layers_pre_mp": 0, "layers_mp": 1}
    with pytest.raises(ConfigError, match=r"^model\.norm=layer: norms every node's features"):
        build(norm="layer", norm_first=True, l2norm="none", **shape)


@pytest.mark.parametrize("name", ["gat", "gatv2", "transformer"])
def test_heads_that_give_scores_are_averaged(name):
    """Velickovic et al. 2018: the heads of a last layer need not divide its width."""
    layer = {"name": name, "heads": 4}
    model = build(layer=layer, layers_pre_mp=0, layers_post_mp=0, dim_inner=8)
    convolution = model.head.layer.conv
    assert (convolution.heads, convolution.out_channels, convolution.concat) == (4, 3, False)
    assert model(toy_graph().with_x(toy_graph().x.double())).size(1) == 3
