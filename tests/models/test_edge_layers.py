"""Layers that need edge features, against PyG's, GraphGym's and a plain GatedGCN."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GeneralConv, GINEConv, MessagePassing

from gymspace.encodings.spectral import EquivStableLap
from gymspace.errors import ConfigError
from gymspace.models.edge_layers import sample_edges
from gymspace.models.known import Known
from tests.graph.toys import INDICES, features
from tests.models.designs import rich_graph, toy_graph
from tests.models.twins import Twin, assert_twins, layer_of, layers_in, params, results, same

NEEDY = ("gine", "general_edge", "general_sampled_edge", "gatedgcn")
ROTATION = torch.linalg.qr(torch.arange(9.0).view(3, 3).cos()).Q
MAPS = ("self_", "neighbour", "edge", "receiver", "sender")


def gine(bias, edge_dim=2, **args):
    maps = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6, bias=bias))
    return GINEConv(maps, edge_dim=edge_dim, **args)


GINE = {
    "gine": Twin({}, None, gine),
    "gine-mean": Twin({}, "mean", lambda b: gine(b, aggr="mean")),
    "gine-eps": Twin(
        {"eps": 0.5, "train_eps": True}, None, lambda b: gine(b, eps=0.5, train_eps=True)
    ),
}


class PlainGatedGCN(MessagePassing):
    """GatedGCN as PyG code; its edges come out in ``edges``."""

    def __init__(self, edge_dim):
        super().__init__(aggr="add")
        for name in MAPS:
            setattr(self, name, nn.Linear(edge_dim if name == "edge" else 4, 6))

    def forward(self, x, edge_index, edge_attr):
        sides = {"d": self.receiver(x), "e": self.sender(x), "b": self.neighbour(x)}
        passed, total = self.propagate(edge_index, c=self.edge(edge_attr), **sides).chunk(2, -1)
        return self.self_(x) + passed / (total + 1e-6)

    def message(self, c, d_i, e_j, b_j):
        self.edges = c + d_i + e_j
        gate = torch.sigmoid(self.edges)
        return torch.cat([gate * b_j, gate], dim=-1)


def test_every_layer_of_the_module_is_tested():
    assert set(NEEDY) == layers_in("edge_layers")


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", GINE)
def test_gine_is_that_of_pyg_with_its_gradients(name, bias, edges):
    """Field case E4."""
    assert_twins(GINE[name], name, rich_graph(edges), bias)


def test_gine_takes_edges_as_wide_as_its_nodes_as_they_are():
    graph = rich_graph().with_links(attr=torch.randn(7, 4, dtype=torch.float64))
    assert_twins(Twin({}, None, lambda b: gine(b, None)), "gine", graph, known=Known(edge_dim=4))


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("direction", ["single", "both"])
def test_general_edge_is_that_of_pyg_with_its_gradients(direction, edges):
    names = {"neighbour.weight": "lin_msg.weight", "receiver.weight": "lin_msg_i.weight"}
    names |= {"edge.weight": "lin_edge.weight", "self_.weight": "lin_self.weight"}
    theirs = GeneralConv(4, 6, 2, directed_msg=direction == "single", bias=False).double()
    same(layer_of("general_edge", False, direction=direction), theirs, rich_graph(edges), names)


@pytest.mark.parametrize("agg", ["add", "mean", "max"])
@pytest.mark.parametrize("direction", ["single", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_general_edge_is_that_of_graphgym(graphgym, direction, agg, weighted):
    """GraphGym maps receiver, sender and edge at once; its maximum is one of weighted messages."""
    gnn = {"self_msg": "concat", "normalize_adj": False, "agg": agg, "msg_direction": direction}
    theirs = graphgym(**gnn).GeneralEdgeConvLayer(4, 6, 2).double()
    ours, graph = layer_of("general_edge", agg=agg, direction=direction), rich_graph()
    parts = [ours.neighbour.weight, ours.edge.weight]
    parts = parts if direction == "single" else [ours.receiver.weight, *parts]
    with torch.no_grad():
        theirs.linear_msg.weight.copy_(torch.cat(parts, dim=1))
        theirs.linear_self.weight.copy_(ours.self_.weight)
    weighted = weighted and agg != "max"
    weight = toy_graph(weighted=weighted).links.weight
    expected = theirs(graph.x, graph.links.index, weight, edge_feature=graph.links.attr)
    torch.testing.assert_close(ours(graph.with_links(weight=weight)).x, expected)


def test_general_edge_normalised_adds_no_loops():
    graph = rich_graph("ring")
    plain, normalised = (layer_of("general_edge", normalize=flag) for flag in (False, True))
    # Each node of a ring has one in-neighbour, so that the symmetric weights are all 1.
    torch.testing.assert_close(normalised(graph).x, plain(graph).x)
    doubled = graph.with_links(
        index=graph.links.index.repeat(1, 2), attr=graph.links.attr.repeat(2, 1)
    )
    torch.testing.assert_close(normalised(doubled).x, plain(graph).x)


@pytest.mark.parametrize("self_msg", ["none", "add"])
def test_a_node_adds_its_own_message_or_nothing(self_msg):
    layer, graph = layer_of("general_edge", self_msg=self_msg), rich_graph("edgeless")
    expected = layer.neighbour(graph.x) if self_msg == "add" else torch.zeros(6, 6).double()
    torch.testing.assert_close(layer(graph).x, expected)


def test_a_share_of_the_edges_is_kept_in_training_only():
    layer, graph = layer_of("general_sampled_edge"), rich_graph()
    torch.manual_seed(1)
    sampled = layer(graph).x
    torch.manual_seed(1)
    whole = layer_of("general_edge")
    whole.load_state_dict(layer.state_dict())
    torch.manual_seed(1)
    torch.testing.assert_close(sampled, whole(sample_edges(graph, 0.5)).x)
    assert not torch.allclose(sampled, whole(graph).x)
    torch.testing.assert_close(layer.eval()(graph).x, whole(graph).x)


def test_edges_are_kept_with_what_they_carry():
    graph = toy_graph(weighted=True).with_links(
        index=torch.arange(2000).view(2, 1000), attr=torch.arange(1000.0).view(-1, 1)
    )
    graph = graph.with_links(weight=torch.arange(1000.0))
    torch.manual_seed(0)
    links = sample_edges(graph, 0.3).links
    assert 250 < links.index.size(1) < 350
    assert torch.equal(links.index[0].float(), links.weight)
    assert torch.equal(links.attr[:, 0], links.weight)


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("edge_dim", [2, 6])
def test_gatedgcn_is_a_plain_one_with_its_gradients(edges, edge_dim):
    index = INDICES[edges]
    attr = features(24, seed=2).view(-1)[: edge_dim * index.size(1)].view(-1, edge_dim)
    graph = toy_graph(edges).with_links(attr=attr)
    ours, theirs = layer_of("gatedgcn", known=Known(edge_dim)), PlainGatedGCN(edge_dim).double()
    same(ours, theirs, graph, {n: n for n, _ in ours.named_parameters()})


def test_gatedgcn_updates_the_edges():
    """Dwivedi et al. 2020: e' = e + ReLU(BatchNorm(C e + D x_i + E x_j))."""
    graph = rich_graph().with_links(attr=features(7, seed=2).view(-1)[:42].view(7, 6))
    ours, theirs = layer_of("gatedgcn", known=Known(6)), PlainGatedGCN(6).double()
    theirs.load_state_dict(ours.state_dict(), strict=False)
    theirs(graph.x, graph.links.index, graph.links.attr)
    edges = theirs.edges
    normed = (edges - edges.mean(0)) / (edges.var(0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(ours(graph).links.attr, graph.links.attr + normed.relu())
    bare = layer_of("gatedgcn", known=Known(6), edge_norm=False)
    torch.testing.assert_close(bare(graph).links.attr, graph.links.attr + edges.relu())


def test_gatedgcn_keeps_the_width_of_the_edges():
    graph = rich_graph()
    layer = layer_of("gatedgcn")
    assert layer(graph).links.attr.shape == (7, 2)
    results(lambda g: layer(g).x, layer, graph)
    assert all(p.grad is not None for p in layer.parameters())
    assert params(layer) == 4 * (4 * 6 + 6) + (2 * 6 + 6)


@pytest.mark.parametrize("edges", [0, 1, 2])
def test_gatedgcn_trains_on_hardly_any_edge(edges):
    """Field case E4: a batch norm over one edge has no spread, over none no mean."""
    graph = rich_graph("ring")
    few = graph.with_links(index=graph.links.index[:, :edges], attr=graph.links.attr[:edges])
    layer = layer_of("gatedgcn")
    out = layer(few)
    (out.x.sum() + out.links.attr.sum()).backward()
    assert all(p.grad.isfinite().all() for p in layer.parameters())
    assert all(buffer.isfinite().all() for buffer in layer.buffers())


@pytest.mark.parametrize("name", NEEDY)
def test_an_edgeless_graph_needs_no_edge_features(name):
    """Field case E1: without edges, no edge_attr and an empty one are the same."""
    layer, graph = layer_of(name).eval(), rich_graph("edgeless")
    assert torch.equal(layer(graph).x, layer(graph.with_links(attr=None)).x)


@pytest.mark.parametrize("name", NEEDY)
def test_a_dataset_without_edge_features_is_refused(name):
    with pytest.raises(ConfigError) as caught:
        layer_of(name, known=Known())
    assert str(caught.value) == (
        f"model.layer={name}: needs edge features, and the graph has none (edge_attr)"
    )


@pytest.mark.parametrize("name", NEEDY)
def test_edges_whose_features_are_missing_are_told(name):
    with pytest.raises(ConfigError, match="dataset: has a graph of 7 edges without features"):
        layer_of(name)(toy_graph())


@pytest.mark.parametrize("keep", [0.0, 1.5])
def test_a_share_of_the_edges_that_cannot_be_is_told(keep):
    with pytest.raises(ConfigError) as caught:
        layer_of("general_sampled_edge", keep=keep)
    assert str(caught.value) == f"model.layer.keep={keep}: must be above 0, and 1 at most"


@pytest.mark.parametrize(
    ("name", "uses", "updates"),
    [
        ("gine", {"edge_attr"}, {"x"}),
        ("general_edge", {"edge_attr", "edge_weight"}, {"x"}),
        ("gatedgcn", {"edge_attr"}, {"x", "edge_attr"}),
    ],
)
def test_a_layer_says_what_it_uses_and_updates(name, uses, updates):
    """Field case E2."""
    layer = layer_of(name)
    assert (layer.uses, layer.updates) == (uses, updates)
    assert type(layer).uses >= uses


def placed(turn=None):
    """A ring of six with an edge of its own for each direction, and positions, turned or not."""
    graph = rich_graph("ring")
    tensors = EquivStableLap(k=3).compute(graph.links.index, 6)
    tensors["equivstable_lap"] = (
        tensors["equivstable_lap"] @ (torch.eye(3) if turn is None else turn).double()
    )
    return graph.with_encodings(tensors)


@pytest.mark.parametrize("turn", [torch.diag(torch.tensor([1.0, -1.0, -1.0])), ROTATION])
def test_gates_by_position_are_blind_to_the_choice_of_eigenvectors(turn):
    """Wang et al. 2022: only distances count, whatever is flipped or turned."""
    layer = layer_of("gatedgcn", positions=True)
    torch.testing.assert_close(layer(placed()).x, layer(placed(turn)).x)
    stretched = placed(2 * torch.eye(3))
    assert not torch.allclose(layer(placed()).x, layer(stretched).x)


def test_a_gate_by_position_scales_the_gate_of_its_edge():
    layer, bare, graph = layer_of("gatedgcn", positions=True), layer_of("gatedgcn"), placed()
    bare.load_state_dict(layer.state_dict(), strict=False)
    nn.init.zeros_(layer.near[2].weight)
    nn.init.constant_(layer.near[2].bias, 40.0)  # a share of one
    torch.testing.assert_close(layer(graph).x, bare(graph).x)
    nn.init.constant_(layer.near[2].bias, -40.0)  # and of none: nothing is passed on
    torch.testing.assert_close(layer(graph).x, layer.self_(graph.x), rtol=0, atol=1e-6)
    assert layer.uses == {"edge_attr", "positions"}


def test_a_gate_by_position_learns():
    layer = layer_of("gatedgcn", positions=True)
    results(lambda g: layer(g).x, layer, placed())
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in layer.near.parameters())


def test_a_gate_by_position_needs_positions():
    with pytest.raises(ConfigError) as caught:
        layer_of("gatedgcn", positions=True)(rich_graph())
    problem = "needs the nodes' positions: encodings=[equivstable_lap]"
    assert str(caught.value) == f"model.layer.positions=True: {problem}"
