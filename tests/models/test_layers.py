"""Every built-in layer against PyG's own on the same weights, and layers of other people's."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, MessagePassing, SAGEConv

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.models.blocks import make_layer
from gymspace.models.layers import EdgeIndexLayer, adapt
from gymspace.schema import Component
from tests.graph.toys import INDICES, features
from tests.models.designs import build, descend, design, toy_graph


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


def mlp(bias):
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6, bias=bias))


class Twin(NamedTuple):
    """A config of ours, PyG's layer for it, and what PyG calls each of our weights."""

    layer: dict
    agg: str | None
    make: Callable
    names: dict
    weighted: bool = False
    turned: tuple = ()


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


def layer_of(name, bias=True, agg=None, **args):
    component = Component.model_validate({"name": name.partition("-")[0], **args})
    torch.manual_seed(0)
    return make_layer(design(agg=agg), component, 4, 6, bias).double()


def results(call, module, graph):
    """Output, gradient of the input and gradients of the weights by name."""
    x = graph.x.clone().requires_grad_()
    out = call(graph.with_x(x))
    (out * features(6, seed=1)).sum().backward()
    grads = {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in module.named_parameters()
        if p.requires_grad
    }
    return out, x.grad, grads


def test_every_built_in_layer_has_a_twin():
    assert {name.partition("-")[0] for name in TWINS} | set(BLIND) == set(registry.LAYERS)


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("name", "weighted"), [(n, w) for n, t in TWINS.items() for w in sorted({False, t.weighted})]
)
def test_a_layer_is_that_of_pyg_with_its_gradients(name, weighted, bias, edges):
    """Field case E4: without edges, with isolated nodes, self loops, repeated, directed edges."""
    twin = TWINS[name]
    graph = toy_graph(edges, weighted=weighted)
    ours, theirs = layer_of(name, bias, twin.agg, **twin.layer), twin.make(bias).double()
    weights = theirs.state_dict()
    for n, p in ours.named_parameters():
        weights[twin.names[n]].copy_(p.detach().T if n in twin.turned else p.detach())
    extra = {"edge_weight": graph.links.weight} if weighted else {}
    out, dx, grads = results(lambda g: ours(g).x, ours, graph)
    expected = results(lambda g: theirs(g.x, g.links.index, **extra), theirs, graph)
    torch.testing.assert_close((out, dx), expected[:2])
    assert {twin.names[n] for n in grads} == set(expected[2])
    for n, grad in grads.items():
        found = grad.T if n in twin.turned else grad
        torch.testing.assert_close(found, expected[2][twin.names[n]].reshape(found.shape))


@pytest.mark.parametrize("name", registry.LAYERS)
def test_only_blind_layers_are_blind_to_the_edges(name):
    layer = layer_of(name)
    outs = [layer(toy_graph(edges)).x for edges in ("awkward", "edgeless")]
    assert torch.equal(*outs) == (name in BLIND)


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


@pytest.mark.parametrize("name", registry.LAYERS)
def test_sparse_features_give_what_dense_ones_give(name):
    graph = toy_graph()
    graph = graph.with_x(graph.x * (graph.x > 0.5))
    layer = layer_of(name)
    torch.testing.assert_close(layer(graph.with_sparse_x()).x, layer(graph).x)


@pytest.mark.parametrize("name", registry.LAYERS)
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
