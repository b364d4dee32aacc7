"""Spectral encodings: what their features do not depend on, heat and charges by formula."""

import math

import networkx
import pytest
import torch
from scipy.linalg import expm

from gymspace.encodings import spectral
from gymspace.errors import ConfigError
from tests.encodings.graphs import (
    GRAPHS,
    beside,
    built,
    carrying,
    component,
    path,
    ring,
    star,
    tensors,
    wild,
)

EIGEN = ("lap", "signnet", "equivstable_lap")


def changed(graph, name, vectors):
    return graph.with_encodings({**graph.encodings, name: vectors})


def test_signs_are_flipped_in_training_alone():
    graph, lap = carrying("lap", path(9), 9, k=8), built("lap", 9, k=8)
    assert not torch.equal(lap(graph), lap(graph))
    lap.eval()
    assert torch.equal(lap(graph), lap(graph))


def test_each_graph_of_a_batch_draws_its_own_signs():
    lap = built("lap", 4, k=3)
    flips = lap._flips(torch.ones(200, 3), torch.arange(100).repeat_interleave(2))
    assert torch.equal(flips[::2], flips[1::2])
    assert set(flips.flatten().tolist()) == {-1, 1}
    assert len({tuple(row) for row in flips.tolist()}) == 8


@pytest.mark.parametrize("name", EIGEN)
def test_what_is_masked_changes_nothing(name):
    graph = carrying(name, path(3), 3, k=6)
    encoding = built(name, 3, k=6).eval()
    there = graph.encodings[f"{name}.mask"]
    values = f"{name}.values"
    noisy = changed(graph, values, torch.where(there, graph.encodings[values], 7.0))
    assert torch.equal(encoding(graph), encoding(noisy))


def test_signnet_is_blind_to_signs():
    graph, signnet = carrying("signnet", path(6), 6, k=4), built("signnet", 6, k=4)
    flipped = changed(graph, "signnet", graph.encodings["signnet"] * torch.tensor([-1, 1, -1, 1]))
    torch.testing.assert_close(signnet(graph), signnet(flipped))


def test_signnet_tells_apart_what_the_size_of_entries_does_not():
    """Both ends of a path of four have the same |v|; so phi must look at the neighbours."""
    graph, signnet = carrying("signnet", path(6), 6, k=1), built("signnet", 6, k=1)
    same = changed(graph, "signnet", graph.encodings["signnet"].abs())
    assert not torch.allclose(signnet(graph), signnet(same))


def test_equivstable_is_blind_to_rotations_within_an_eigenspace():
    """A ring's eigenvalues stand twice, and any turned pair of vectors is as good."""
    name = "equivstable_lap"
    graph, encoding = carrying(name, ring(7), 7, k=2), built(name, 7, k=2)
    assert graph.encodings[f"{name}.values"][0].diff().abs() < 1e-12
    turn = torch.tensor([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]]).double()
    turned = changed(graph, name, graph.encodings[name] @ turn)
    torch.testing.assert_close(encoding(graph), encoding(turned))


@pytest.mark.parametrize("name", EIGEN)
def test_a_component_has_the_same_features_whatever_is_beside_it(name):
    alone, encoding = carrying(name, path(4), 4, k=3), built(name, 4, k=3).eval()
    crowd = carrying(name, beside(path(4), 4, star(6)), 11, k=3)
    torch.testing.assert_close(encoding(crowd)[:4], encoding(alone))


@pytest.mark.parametrize("name", GRAPHS)
def test_heat_is_the_diagonal_of_the_matrix_exponential(name):
    index, nodes = GRAPHS[name]
    simple = networkx.Graph([pair for pair in index.T.tolist() if pair[0] != pair[1]])
    simple.add_nodes_from(range(nodes))
    laplacian = networkx.normalized_laplacian_matrix(simple, range(nodes)).toarray()
    exact = [torch.from_numpy(expm(-t * laplacian).diagonal().copy()) for t in range(1, 21)]
    found = tensors("heat", index, nodes, times=20)["heat"]
    torch.testing.assert_close(found, torch.stack(exact, dim=1), rtol=0, atol=1e-8)


def test_heat_on_a_pair_and_on_an_isolated_node():
    found = tensors("heat", path(2), 3, times=3)["heat"]
    half = [(1 + math.exp(-2 * t)) / 2 for t in (1, 2, 3)]
    expected = torch.tensor([half, half, [1, 1, 1]]).double()
    torch.testing.assert_close(found, expected)


def test_charges_on_a_pair():
    found = tensors("electrostatic", path(2), 3)["electrostatic"]
    pair = [-0.5, -0.25, 0.25, -0.25, 0.25, -0.5, -0.5]
    torch.testing.assert_close(found, torch.tensor([pair, pair, [0] * 7]).double())


def test_potentials_go_by_effective_resistance():
    """On a tree U[i, j] + U[j, i] is minus the distance."""
    graph, index = wild(links=0.045, seed=3)
    found = tensors("electrostatic", index, 30)["electrostatic"]
    for nodes in networkx.connected_components(graph):
        part = graph.subgraph(nodes)
        assert networkx.is_tree(part)
        far = dict(networkx.all_pairs_shortest_path_length(part))
        for node in nodes:
            mean = -sum(far[node].values()) / len(nodes)
            assert float(found[node, 1] + found[node, 3]) == pytest.approx(mean, abs=1e-9)


def test_a_dense_inverse_is_refused_for_large_graphs(monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", 8)
    for name in ("electrostatic", "spd"):
        tensors(name, ring(8), 8)
        with pytest.raises(ConfigError) as caught:
            tensors(name, ring(9), 9)
        problem = "is for graphs of up to 8 nodes, and this has 9"
        assert str(caught.value) == f"encodings={name}: {problem}"


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("lap", "k", 0),
        ("signnet", "k", -1),
        ("equivstable_lap", "k", 0),
        ("lap", "dim", 0),
        ("lap", "layers", 0),
        ("signnet", "hidden", 0),
        ("heat", "times", 0),
        ("rwse", "steps", 0),
        ("identity", "steps", 0),
        ("identity", "anchors", 0),
        ("betweenness", "sources", 0),
        ("constant", "dim", 0),
        ("onehot", "dim", 0),
    ],
)
def test_numbers_below_one_are_told(name, argument, value):
    with pytest.raises(ConfigError) as caught:
        built(name, 4, **{argument: value})
    problem = "must be a whole number of 1 or more"
    assert str(caught.value) == f"encodings.{argument}={value}: {problem}"


def test_an_argument_that_an_encoding_has_not_is_told():
    with pytest.raises(ConfigError, match=r"encodings.steps=3: 'lap' takes no such argument"):
        built("lap", 4, steps=3)
    assert component("lap", k=3).label == "lap(k=3)"
