"""The layers of `pyg_layers` against PyG's own on the same weights, and what they refuse."""

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from gymspace.errors import ConfigError
from gymspace.models.known import Known
from tests.graph.toys import INDICES
from tests.models.designs import KNOWN, rich_graph, toy_graph
from tests.models.twins import Twin, assert_twins, layer_of, layers_in, params

GRAPHCONV_NAMES = {
    "neighbour.weight": "lin_rel.weight",
    "neighbour.bias": "lin_rel.bias",
    "self_.weight": "lin_root.weight",
}
EDGECONV_NAMES = {f"conv.nn.{i}.{n}": f"nn.{i}.{n}" for i in (0, 2) for n in ("weight", "bias")}
SGC_NAMES = {"map.weight": "lin.weight", "bias": "lin.bias"}


def edgeconv(bias, aggr="max"):
    maps = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 6, bias=bias))
    return pyg.EdgeConv(maps, aggr=aggr)


def pna(towers=1, edge_dim=None, names=("mean", "min", "max", "std")):
    scalers = ["identity", "amplification", "attenuation"]
    return pyg.PNAConv(4, 6, list(names), scalers, KNOWN.degrees, edge_dim, towers)


TWINS = {
    "graphconv": Twin({}, None, lambda b: pyg.GraphConv(4, 6, bias=b), GRAPHCONV_NAMES, True),
    "graphconv-mean": Twin(
        {}, "mean", lambda b: pyg.GraphConv(4, 6, "mean", bias=b), GRAPHCONV_NAMES, True
    ),
    "gatv2": Twin({}, None, lambda b: pyg.GATv2Conv(4, 6, bias=b)),
    "gatv2-heads": Twin(
        {"heads": 3, "share_weights": True},
        None,
        lambda b: pyg.GATv2Conv(4, 2, 3, bias=b, share_weights=True),
    ),
    "edgeconv": Twin({}, None, edgeconv, EDGECONV_NAMES),
    "edgeconv-add": Twin({}, "add", lambda b: edgeconv(b, "add"), EDGECONV_NAMES),
    "pna": Twin({}, None, lambda b: pna()),
    "pna-towers": Twin(
        {"towers": 2, "aggregators": ["sum", "var"]},
        None,
        lambda b: pna(2, names=("sum", "var")),
    ),
    "gen": Twin({}, None, lambda b: pyg.GENConv(4, 6, bias=b)),
    "gen-deep": Twin(
        {"layers": 3, "expansion": 1, "norm": "layer", "learn_t": True},
        None,
        lambda b: pyg.GENConv(4, 6, num_layers=3, expansion=1, norm="layer", learn_t=True, bias=b),
    ),
    "transformer": Twin({}, None, lambda b: pyg.TransformerConv(4, 6, bias=b)),
    "transformer-heads": Twin(
        {"heads": 2, "beta": True}, None, lambda b: pyg.TransformerConv(4, 3, 2, beta=True, bias=b)
    ),
    "cheb": Twin({}, None, lambda b: pyg.ChebConv(4, 6, 3, bias=b), None, True),
    "cheb-order": Twin({"order": 1}, None, lambda b: pyg.ChebConv(4, 6, 1, bias=b)),
    "sgc": Twin({}, None, lambda b: pyg.SGConv(4, 6, 2, bias=b), SGC_NAMES, True),
    "sgc-hops": Twin({"hops": 3}, None, lambda b: pyg.SGConv(4, 6, 3, bias=b), SGC_NAMES),
}
WITH_EDGES = {
    "gatv2": Twin({}, None, lambda b: pyg.GATv2Conv(4, 6, edge_dim=2, bias=b)),
    "pna": Twin({}, None, lambda b: pna(edge_dim=2)),
    "gen": Twin({}, None, lambda b: pyg.GENConv(4, 6, edge_dim=2, bias=b)),
    "transformer": Twin({}, None, lambda b: pyg.TransformerConv(4, 6, edge_dim=2, bias=b)),
}
NO_EDGE_ATTR = Known(degrees=KNOWN.degrees)


def test_every_layer_of_the_module_has_a_twin():
    twins = {name.partition("-")[0] for name in TWINS}
    assert twins | {"none", "tag"} == layers_in("pyg_layers")


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("name", "weighted"), [(n, w) for n, t in TWINS.items() for w in sorted({False, t.weighted})]
)
def test_a_layer_is_that_of_pyg_with_its_gradients(name, weighted, bias, edges):
    """Field case E4: without edges, with isolated nodes, self loops, repeated, directed edges."""
    assert_twins(TWINS[name], name, toy_graph(edges, weighted=weighted), bias, NO_EDGE_ATTR)


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("name", WITH_EDGES)
def test_a_layer_sees_edge_features_where_there_are_some(name, edges):
    """Field case E2: edge features are not ignored in silence; E1: also those of no edge."""
    assert_twins(WITH_EDGES[name], name, rich_graph(edges))


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_tag_is_that_of_pyg_with_its_gradients(edges, weighted, bias):
    graph = toy_graph(edges, weighted=weighted)
    ours, theirs = layer_of("tag", bias), pyg.TAGConv(4, 6, 3, bias=bias).double()
    with torch.no_grad():
        for weight, lin in zip(ours.weight, theirs.lins, strict=True):
            lin.weight.copy_(weight.T)
    xs = [graph.x.clone().requires_grad_() for _ in range(2)]
    outs = ours(graph.with_x(xs[0])).x, theirs(xs[1], graph.links.index, graph.links.weight)
    for out in outs:
        out.square().sum().backward()
    torch.testing.assert_close((outs[0], xs[0].grad), (outs[1], xs[1].grad))
    torch.testing.assert_close(
        ours.weight.grad, torch.stack([lin.weight.grad.T for lin in theirs.lins])
    )


def test_as_many_hops_as_asked_for():
    """On a directed ring a node's features are felt by the nodes that come after, and no other."""
    graph = toy_graph("ring")
    x = graph.x.clone()
    x[0] += 1
    for name, hops, reached in (("tag", 2, [0, 1, 2]), ("sgc", 1, [0, 1]), ("cheb", 3, [0, 1, 2])):
        layer = layer_of(name, **{"order" if name == "cheb" else "hops": hops})
        moved = (layer(graph.with_x(x)).x - layer(graph).x).abs().sum(1)
        assert moved.nonzero().flatten().tolist() == reached


def test_no_layer_passes_the_graph_on():
    graph = rich_graph(width=6)
    layer = layer_of("none", dims=(6, 6))
    assert layer(graph) is graph
    assert params(layer) == 0


@pytest.mark.parametrize("name", WITH_EDGES)
def test_an_edgeless_graph_needs_no_edge_features(name):
    """Field case E1: without edges, no edge_attr and an empty one are the same."""
    layer, graph = layer_of(name).eval(), rich_graph("edgeless")
    assert torch.equal(layer(graph).x, layer(graph.with_links(attr=None)).x)


@pytest.mark.parametrize("name", WITH_EDGES)
def test_edges_whose_features_are_missing_are_told(name):
    """Field case E1: a graph of a dataset lacks what the others have."""
    with pytest.raises(ConfigError) as caught:
        layer_of(name)(toy_graph())
    assert str(caught.value) == "dataset: has a graph of 7 edges without features (edge_attr)"


def test_pna_on_training_graphs_without_edges_has_finite_scalers():
    """Field case E4: the mean degree, by which PNA divides, would be 0."""
    layer = layer_of("pna", known=Known(degrees=torch.tensor([6])))
    assert layer(toy_graph()).x.isfinite().all()


def test_pna_scales_by_the_degrees_of_the_training_graphs():
    one, other = (
        layer_of("pna", known=Known(degrees=torch.tensor(counts)))(toy_graph()).x
        for counts in ([0, 6], [0, 0, 6])
    )
    assert not torch.allclose(one, other)


def test_attention_drops_out_in_training_only():
    graph = rich_graph("ring")
    for name in ("gatv2", "transformer"):
        layer = layer_of(name, dropout=0.5)
        assert not torch.equal(layer(graph).x, layer(graph).x)
        layer.eval()
        assert torch.equal(layer(graph).x, layer(graph).x)


@pytest.mark.parametrize(
    ("layer", "line"),
    [
        ({"name": "gatv2", "heads": 4}, "heads=4: must divide the layer's width 6"),
        ({"name": "transformer", "heads": 0}, "heads=0: must divide the layer's width 6"),
        ({"name": "pna", "towers": 5}, "towers=5: must divide the layer's width 6"),
        ({"name": "pna", "aggregators": []}, "aggregators=[]: must name one or more"),
        ({"name": "pna", "scalers": []}, "scalers=[]: must name one or more"),
        ({"name": "gatv2", "dropout": 1.5}, "dropout=1.5: must be between 0 and 1"),
        ({"name": "transformer", "dropout": -1.0}, "dropout=-1.0: must be between 0 and 1"),
        ({"name": "gat", "dropout": 1.5}, "dropout=1.5: must be between 0 and 1"),
        ({"name": "idgat", "dropout": 1.5}, "dropout=1.5: must be between 0 and 1"),
        ({"name": "mlp", "layers": 0}, "layers=0: must be 1 or more"),
        ({"name": "tag", "hops": 0}, "hops=0: must be 1 or more"),
        ({"name": "sgc", "hops": 0}, "hops=0: must be 1 or more"),
        ({"name": "cheb", "order": 0}, "order=0: must be 1 or more"),
        ({"name": "gen", "layers": 0}, "layers=0: must be 1 or more"),
        (
            {"name": "gen", "norm": "bach"},
            "norm=bach: unknown choice; choices: batch, layer; did you mean batch?",
        ),
        (
            {"name": "pna", "aggregators": ["maxx"]},
            "aggregators=maxx: unknown choice; choices: mean, min, max, std, var, sum;"
            " did you mean max?",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_told(layer, line):
    with pytest.raises(ConfigError) as caught:
        layer_of(**layer)
    assert str(caught.value) == f"model.layer.{line}"


def test_widths_and_degrees_that_do_not_fit_are_told():
    with pytest.raises(ConfigError) as caught:
        layer_of("none")
    assert str(caught.value) == (
        "model.layer=none: passes features on as they are, so width 4 cannot become 6"
    )
    with pytest.raises(ConfigError, match=r"model.layer=pna: needs to know the nodes' degrees"):
        layer_of("pna", known=Known())
