"""The first layers against PyG's own on the same weights, and layers of other people's."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, MessagePassing, SAGEConv

from gymspace import tables
from gymspace.errors import ConfigError
from gymspace.models.known import Known
from gymspace.models.layers import EdgeIndexLayer, adapt
from tests.graph.toys import INDICES
from tests.models.designs import build, descend, rich_graph, toy_graph
from tests.models.twins import Twin, assert_twins, layer_of, params, same


class GeneralConv(MessagePassing):
    """GraphGym's general convolution as PyG code: sum of neighbours, and the node itself."""

    def __init__(self, dim_in, dim_out, bias, aggr="add"):
        super().__init__(aggr=aggr)
        self.neighbour = nn.Linear(dim_in, dim_out, bias=False)
        self.self_ = nn.Linear(dim_in, dim_out, bias=bias)

    def forward(self, x, edge_index, edge_weight=None):
        passed = self.propagate(edge_index, x=self.neighbour(x), edge_weight=edge_weight)
        return passed + self.self_(x)

    def message(self, x_j, edge_weight):
        return x_j if edge_weight is None else edge_weight[:, None] * x_j


class BothEnds(MessagePassing):
    """The same with messages that are maps of the receiver too."""

    def __init__(self, aggr):
        super().__init__(aggr=aggr)
        self.neighbour = nn.Linear(4, 6, bias=False)
        self.receiver = nn.Linear(4, 6, bias=False)
        self.self_ = nn.Linear(4, 6)

    def forward(self, x, edge_index, edge_weight=None):
        return self.propagate(edge_index, x=x, edge_weight=edge_weight) + self.self_(x)

    def message(self, x_i, x_j, edge_weight):
        sent = self.neighbour(x_j) + self.receiver(x_i)
        return sent if edge_weight is None else edge_weight[:, None] * sent


def mlp(bias):
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6, bias=bias))


GCN_NAMES = {"weight": "lin.weight", "bias": "bias"}
SAGE_NAMES = {
    "neighbour.weight": "lin_l.weight",
    "neighbour.bias": "lin_l.bias",
    "self_.weight": "lin_r.weight",
}
GENERAL_NAMES = {n: n for n in ("neighbour.weight", "self_.weight", "self_.bias")}
GAT_NAMES = {f"conv.{n}": n for n in ("att_src", "att_dst", "att_edge", "bias", "lin.weight")}
GIN_NAMES = {f"mlp.{i}.{n}": f"nn.{i}.{n}" for i in (0, 2) for n in ("weight", "bias")} | {
    "eps": "eps"
}
TWINS = {
    "gcn": Twin({}, None, lambda b: GCNConv(4, 6, bias=b), GCN_NAMES, True, ("weight",)),
    "sage": Twin({}, None, lambda b: SAGEConv(4, 6, bias=b), SAGE_NAMES),
    "sage-max": Twin({}, "max", lambda b: SAGEConv(4, 6, bias=b, aggr="max"), SAGE_NAMES),
    "sage-add": Twin({}, "add", lambda b: SAGEConv(4, 6, bias=b, aggr="sum"), SAGE_NAMES),
    "gat": Twin({}, None, lambda b: GATConv(4, 6, bias=b), GAT_NAMES),
    "gat-heads": Twin({"heads": 3}, None, lambda b: GATConv(4, 2, 3, bias=b), GAT_NAMES),
    "gin": Twin({}, None, lambda b: GINConv(mlp(b)), GIN_NAMES),
    "gin-eps": Twin(
        {"eps": 0.5, "train_eps": True},
        None,
        lambda b: GINConv(mlp(b), eps=0.5, train_eps=True),
        GIN_NAMES,
    ),
    "general": Twin({}, None, lambda b: GeneralConv(4, 6, b), GENERAL_NAMES, True),
    "general-mean": Twin({}, "mean", lambda b: GeneralConv(4, 6, b, "mean"), GENERAL_NAMES, True),
    "general-max": Twin({}, "max", lambda b: GeneralConv(4, 6, b, "max"), GENERAL_NAMES),
}
BLIND = ("linear", "mlp")


def test_every_layer_of_the_module_has_a_twin():
    here = {
        n for n, row in tables.LAYERS.items() if row.target.startswith("gymspace.models.layers")
    }
    assert {name.partition("-")[0] for name in TWINS} | set(BLIND) == here


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("name", "weighted"), [(n, w) for n, t in TWINS.items() for w in sorted({False, t.weighted})]
)
def test_a_layer_is_that_of_pyg_with_its_gradients(name, weighted, bias, edges):
    """Field case E4: without edges, with isolated nodes, self loops, repeated, directed edges."""
    assert_twins(TWINS[name], name, toy_graph(edges, weighted=weighted), bias)


@pytest.mark.parametrize("name", tables.LAYERS)
def test_only_blind_layers_are_blind_to_the_edges(name):
    layer = layer_of(name, dims=(6, 6))
    outs = [layer(rich_graph(edges, 6)).x for edges in ("awkward", "edgeless")]
    assert torch.equal(*outs) == (name in (*BLIND, "none"))


@pytest.mark.parametrize(
    ("layer", "count"),
    [
        ({"name": "gcn"}, 4 * 6 + 6),
        ({"name": "gat", "heads": 3}, 4 * 6 + 3 * (2 + 2) + 6),
        ({"name": "gin"}, (4 * 6 + 6) + (6 * 6 + 6)),
        ({"name": "gin", "train_eps": True}, (4 * 6 + 6) + (6 * 6 + 6) + 1),
        ({"name": "sage"}, 4 * 6 + 6 + 4 * 6),
        ({"name": "general"}, 4 * 6 + 4 * 6 + 6),
        ({"name": "general", "self_msg": "add"}, 4 * 6 + 6),
        ({"name": "general", "self_msg": "none"}, 4 * 6 + 6),
        ({"name": "general", "direction": "both"}, 3 * 4 * 6 + 6),
    ],
)
def test_parameters_are_as_many_as_counted_by_hand(layer, count):
    assert params(layer_of(**layer)) == count


@pytest.mark.parametrize("agg", ["add", "mean", "max"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("self_msg", ["none", "add", "concat"])
def test_the_options_of_general_are_graphgyms(graphgym, self_msg, normalize, agg):
    """On a ring, where its degrees (of the sources) are those of the targets."""
    settings = {"self_msg": self_msg, "normalize_adj": normalize, "agg": agg}
    theirs = graphgym(**settings).GeneralConvLayer(4, 6)
    bias = {"self_.bias" if self_msg == "concat" else "bias": "bias"}
    names = {"neighbour.weight": "weight", "self_.weight": "weight_self", **bias}
    ours = layer_of("general", agg=agg, self_msg=self_msg, normalize=normalize)
    same(
        ours, theirs.double(), toy_graph("ring"), names, turned=("neighbour.weight", "self_.weight")
    )


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_general_normalised_and_alone_is_a_gcn(edges, weighted):
    ours = layer_of("general", self_msg="none", normalize=True)
    names = {"neighbour.weight": "lin.weight", "bias": "bias"}
    same(ours, GCNConv(4, 6).double(), toy_graph(edges, weighted=weighted), names)


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize(("agg", "weighted"), [("add", True), ("mean", True), ("max", False)])
def test_messages_of_both_ends(edges, agg, weighted):
    names = {n: n for n in ("neighbour.weight", "receiver.weight", "self_.weight", "self_.bias")}
    ours = layer_of("general", agg=agg, direction="both")
    theirs = BothEnds(agg).double()
    same(ours, theirs, toy_graph(edges, weighted=weighted), names)


@pytest.mark.parametrize(
    ("layer", "agg", "uses"),
    [
        ("general", None, {"edge_weight"}),
        ("general", "max", set()),
        ("sage", "max", set()),
        ("gin", "mean", {"edge_weight"}),
        ("gcn", "max", {"edge_weight"}),
        ("gat", None, set()),
        ("mlp", None, set()),
    ],
)
def test_a_layer_says_what_it_uses(layer, agg, uses):
    """Field case E2."""
    assert layer_of(layer, agg=agg).uses == uses
    assert layer_of(layer, agg=agg).updates == {"x"}


def changes(layer, **data):
    graph = rich_graph(width=6, weighted=True)
    return not torch.equal(layer(graph).x, layer(graph.with_links(**data)).x)


@pytest.mark.parametrize("name", tables.LAYERS)
def test_what_a_layer_declares_is_what_it_reads(name):
    """Field case E2: edge features and weights change the output of layers that use them only."""
    layer = layer_of(name, dims=(6, 6)).eval()
    links = rich_graph(weighted=True).links
    assert changes(layer, attr=links.attr + 1) == ("edge_attr" in layer.uses)
    assert changes(layer, weight=links.weight.flip(0)) == ("edge_weight" in layer.uses)


@pytest.mark.parametrize("name", tables.LAYERS)
def test_what_a_layer_declares_is_what_it_updates(name):
    layer, graph = layer_of(name, dims=(6, 6)), rich_graph(width=6)
    out = layer(graph)
    changed = {"x": out.x is not graph.x, "edge_attr": out.links.attr is not graph.links.attr}
    assert layer.updates == {part for part, is_new in changed.items() if is_new}


def test_gat_sees_edge_features_when_asked_to():
    """Field case E2: a GATConv without edge_dim would ignore them in silence."""
    ours = layer_of("gat", edge_attr=True)
    assert ours.uses == {"edge_attr"}
    theirs = GATConv(4, 6, edge_dim=2).double()
    same(ours, theirs, rich_graph(), {f"conv.{n}": n for n, _ in theirs.named_parameters()})


def test_gat_says_so_where_there_are_no_edge_features_to_see():
    with pytest.raises(ConfigError) as caught:
        layer_of("gat", known=Known(), edge_attr=True)
    assert str(caught.value) == (
        "model.layer.edge_attr=True: needs edge features, and the graph has none (edge_attr)"
    )


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            {"self_msg": "concta"},
            "model.layer.self_msg=concta: unknown choice; choices: none, add, concat;"
            " did you mean concat?",
        ),
        (
            {"direction": "back"},
            "model.layer.direction=back: unknown choice; choices: single, both",
        ),
    ],
)
def test_options_that_do_not_exist_are_told(args, line):
    with pytest.raises(ConfigError) as caught:
        layer_of("general", **args)
    assert str(caught.value) == line


def test_the_mlp_has_as_many_maps_as_asked_for():
    maps = [m for m in layer_of("mlp", layers=3).modules() if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in maps] == [(4, 6), (6, 6), (6, 6)]
    graph = toy_graph()
    layer = layer_of("mlp", layers=1)
    torch.testing.assert_close(layer(graph).x, layer.mlp[0](graph.x))


@pytest.mark.parametrize("heads", [4, 0, -1])
def test_heads_that_do_not_divide_the_width_are_told(heads):
    with pytest.raises(ConfigError, match=f"model.layer.heads={heads}: must divide .* width 6"):
        layer_of("gat", heads=heads)


def test_attention_drops_out_in_training_only():
    layer, graph = layer_of("gat", dropout=0.5), toy_graph("ring")
    assert not torch.equal(layer(graph).x, layer(graph).x)
    layer.eval()
    assert torch.equal(layer(graph).x, layer(graph).x)


@pytest.mark.parametrize("name", tables.LAYERS)
def test_sparse_features_give_what_dense_ones_give(name):
    graph = rich_graph(width=6)
    graph = graph.with_x(graph.x * (graph.x > 0.5))
    layer = layer_of(name, dims=(6, 6)).eval()
    torch.testing.assert_close(layer(graph.with_sparse_x()).x, layer(graph).x)


@pytest.mark.parametrize("name", [*dict.fromkeys(n.partition("-")[0] for n in TWINS), *BLIND])
def test_weights_begin_in_the_range_of_their_initialisation(name):
    """Xavier's bound, with ReLU's gain where a ReLU may follow; biases begin at zero."""
    for key, p in layer_of(name).named_parameters():
        if p.dim() == 2:
            assert 0 < p.abs().max() <= 2**0.5 * (6 / sum(p.shape)) ** 0.5
        elif key.endswith("bias"):
            assert not p.any()


# Layers of other people's


class Recorder(nn.Module):
    def forward(self, x, edge_index, edge_attr=None):
        self.got = {"x": x, "edge_index": edge_index, "edge_attr": edge_attr}
        return x


class Weighted(nn.Module):
    def forward(self, x, edge_index, edge_weight):
        self.got = {"edge_weight": edge_weight}
        return x


class Plain(nn.Module):
    def forward(self, x, edge_index):
        return x


class Ours(nn.Module):
    def forward(self, graph):
        return graph.with_x(graph.x + 1)


def test_a_pyg_style_layer_gets_the_edge_data_that_it_names():
    """Field case E2: nothing is handed to a layer that does not ask, or kept from one that does."""
    graph = toy_graph(weighted=True)
    attr = torch.ones(7, 2)
    graph = type(graph).of(graph.x, graph.links.index, attr, graph.links.weight)
    recorder, weighted = Recorder(), Weighted()
    adapt(recorder)(graph)
    assert recorder.got == {"x": graph.x, "edge_index": graph.links.index, "edge_attr": attr}
    adapt(weighted)(graph)
    assert weighted.got == {"edge_weight": graph.links.weight}
    assert adapt(Plain())(graph).x is graph.x


def test_edge_data_that_is_not_there_is_none():
    recorder = Recorder()
    adapt(recorder)(toy_graph())
    assert recorder.got["edge_attr"] is None


def test_a_layer_that_takes_a_graph_is_not_wrapped():
    layer = Ours()
    assert adapt(layer) is layer
    assert isinstance(adapt(Plain()), EdgeIndexLayer)


@pytest.mark.parametrize("conv", ["SAGEConv", "GCNConv", "GATv2Conv", "GraphConv", "TAGConv"])
@pytest.mark.parametrize("norm", ["batch", "none"])
def test_layers_of_pyg_learn_as_ours_do(conv, norm):
    model = build(layer=f"torch_geometric.nn:{conv}", norm=norm)
    before, after = descend(model, toy_graph(weighted=conv != "SAGEConv"))
    assert after < before
