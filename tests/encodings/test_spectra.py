"""Laplacian eigenpairs against closed forms, by component, padded, and for large graphs."""

import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE

from gymspace.encodings import spectra
from gymspace.encodings.matrices import undirected
from gymspace.encodings.spectra import lowest
from tests.encodings.graphs import beside, path, ring, star, tensors

FORMULAS = {
    "path": (path(7), 7, [1 - math.cos(math.pi * j / 6) for j in range(7)]),
    "ring": (ring(8), 8, [1 - math.cos(2 * math.pi * j / 8) for j in range(8)]),
    "odd ring": (ring(5), 5, [1 - math.cos(2 * math.pi * j / 5) for j in range(5)]),
    "star": (star(5), 6, [0, 1, 1, 1, 1, 2]),
    "pair": (path(2), 2, [0, 2]),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_eigenvalues_are_those_of_the_formula(name):
    index, nodes, formula = FORMULAS[name]
    found = lowest(undirected(index, nodes), nodes - 1)
    assert found.there.all()
    np.testing.assert_allclose(found.values, [sorted(formula)[1:]] * nodes, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_eigenvectors_have_length_one_and_leave_the_trivial_one_out(name):
    index, nodes, _ = FORMULAS[name]
    matrix = undirected(index, nodes)
    found = lowest(matrix, nodes - 1)
    degree = matrix.sum(axis=1)
    laplacian = np.eye(nodes) - matrix.toarray() / np.sqrt(np.outer(degree, degree))
    v, values = found.vectors, found.values[0]
    np.testing.assert_allclose(laplacian @ v, v * values, atol=1e-12)
    np.testing.assert_allclose(v.T @ v, np.eye(nodes - 1), atol=1e-12)
    np.testing.assert_allclose(np.sqrt(degree) @ v, 0, atol=1e-12)


def test_a_paths_first_vector_runs_from_end_to_end():
    v = tensors("lap", path(9), 9, k=1)["lap"].squeeze()
    degree = torch.tensor([1, *[2] * 7, 1]).double()
    wave = degree.sqrt() * torch.cos(math.pi * torch.arange(9) / 8)
    torch.testing.assert_close(v, wave / wave.norm())


def test_each_component_has_its_own_vectors_and_no_trivial_one():
    found = tensors("lap", beside(ring(5), 5, path(4)), 9, k=6)
    for rows, index, nodes in ((slice(0, 5), ring(5), 5), (slice(5, 9), path(4), 4)):
        alone = tensors("lap", index, nodes, k=6)
        for part in ("lap.values", "lap.mask", "lap.size"):
            assert torch.equal(found[part][rows], alone[part])
        assert torch.allclose(found["lap"][rows], alone["lap"])
    assert found["lap.mask"].sum(dim=1).tolist() == [4] * 5 + [3] * 4


def test_more_vectors_than_nodes_are_padded_and_masked():
    found = tensors("lap", path(3), 3, k=10)
    assert found["lap"].shape == (3, 10)
    assert found["lap.mask"].tolist() == [[True] * 2 + [False] * 8] * 3
    assert not found["lap"][:, 2:].any()
    assert not found["lap.values"][:, 2:].any()


def test_an_isolated_node_has_no_vectors():
    """Field case E4."""
    found = tensors("lap", path(3), 5, k=2)
    assert found["lap.mask"].tolist() == [[True, True]] * 3 + [[False, False]] * 2


def test_direction_loops_and_repetition_of_edges_do_not_matter():
    once = path(5)[:, :4]
    odd = torch.cat([once, once[:, :2], torch.tensor([[1, 3], [1, 3]])], dim=1)
    assert torch.equal(tensors("lap", odd, 5)["lap"], tensors("lap", path(5), 5)["lap"])


def test_connected_graphs_give_what_pygs_transform_gives_up_to_signs():
    # Without eigenvalues that stand twice, whose vectors are anybody's choice.
    index = torch.cat([path(12), torch.tensor([[0, 5, 2, 9], [5, 0, 9, 2]])], dim=1)
    pyg = AddLaplacianEigenvectorPE(4, is_undirected=True)(Data(edge_index=index, num_nodes=12))
    ours = tensors("lap", index, 12, k=4)["lap"]
    theirs = pyg.laplacian_eigenvector_pe.double()
    torch.testing.assert_close(ours.abs(), theirs.abs(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["path", "bushy"])
def test_large_components_have_the_pairs_that_small_ones_have(name, monkeypatch):
    """A path takes the factors, a bushy graph products alone."""
    draw = torch.Generator().manual_seed(0)
    links = torch.randint(0, 300, (2, 900), generator=draw)
    index = path(300) if name == "path" else torch.cat([path(300), links, links.flip(0)], dim=1)
    matrix = undirected(index, 300)
    whole = lowest(matrix, 5)
    monkeypatch.setattr(spectra, "DENSE", 10)
    large = lowest(matrix, 5)
    np.testing.assert_allclose(large.values, whole.values, atol=1e-9)
    np.testing.assert_allclose(large.vectors, whole.vectors, atol=1e-6)


def test_signs_do_not_depend_on_the_solver():
    values = np.array([[0.5, -0.1], [-0.5, 0.2], [0.1, -0.9]])
    assert spectra._signs(values).tolist() == [1, -1]
    assert spectra._signs(-values).tolist() == [-1, 1]
