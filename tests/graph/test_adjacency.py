"""Sparse products against dense ones, and adjacencies against their definitions."""

import pytest
import torch
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from gymspace.graph.adjacency import KINDS, Sparse, prepare
from tests.graph.toys import INDICES, NODES, features, matrix, weights

# Repeated, unordered, with empty first and last rows; nothing at all; wide; high.
ENTRIES = {
    "repeated": ([[1, 1, 2, 1, 2], [3, 0, 1, 3, 1]], (4, 4)),
    "empty": ([[], []], (3, 4)),
    "wide": ([[0, 1, 0], [6, 0, 2]], (2, 7)),
    "high": ([[6, 0, 2], [0, 1, 0]], (7, 2)),
}


def entries(name):
    index, size = ENTRIES[name]
    index = torch.tensor(index, dtype=torch.int64)
    values = torch.linspace(-1, 2, index.size(1), dtype=torch.float64)
    dense = torch.zeros(size, dtype=torch.float64).index_put(tuple(index), values, accumulate=True)
    return Sparse.of(index, values, size), dense


@pytest.mark.parametrize("name", ENTRIES)
def test_a_sparse_product_is_the_dense_one_and_so_is_its_gradient(name):
    sparse, dense = entries(name)
    x = torch.randn(dense.size(1), 3, dtype=torch.float64, requires_grad=True)
    out = torch.randn(dense.size(0), 3, dtype=torch.float64)
    torch.testing.assert_close(sparse @ x, dense @ x)
    ours, theirs = (torch.autograd.grad((m @ x * out).sum(), x) for m in (sparse, dense))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_gradient_is_that_of_finite_differences(name):
    sparse, dense = entries(name)
    x = torch.randn(dense.size(1), 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: sparse @ x, x)


def test_a_gradient_that_is_an_expanded_view_will_do():
    """The gradient of a sum has strides of zero."""
    sparse, dense = entries("repeated")
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    (sparse @ x).sum().backward()
    torch.testing.assert_close(x.grad, dense.sum(0)[:, None].expand(4, 3))


def test_the_matrix_and_its_transpose_are_one():
    sparse, dense = entries("repeated")
    assert torch.equal(sparse.matrix.to_dense(), dense)
    assert torch.equal(sparse.transpose.to_dense(), dense.T)
    assert sparse.matrix.values().numel() == 3


def test_a_place_outside_the_matrix_is_refused():
    with pytest.raises(RuntimeError):
        Sparse.of(torch.tensor([[0], [-1]]), torch.ones(1), (2, 5))


def mean_of(index, values):
    count = matrix(index).sum(1, keepdim=True).clamp(min=1)
    return matrix(index, values) / count


def with_loops(index, values):
    dense = matrix(index, values)
    own = dense.diagonal()
    return dense + torch.diag(torch.where(own == 0, 1.0, 0.0))


def gcn_of(index, values):
    dense = with_loops(index, values)
    root = dense.sum(1).rsqrt()
    return root[:, None] * dense * root[None, :]


def symmetric_of(index, values):
    dense = matrix(index, values)
    degree = dense.sum(1)
    root = torch.where(degree > 0, degree.rsqrt(), 0.0)
    return root[:, None] * dense * root[None, :]


DEFINITIONS = {
    "sum": matrix,
    "mean": mean_of,
    "gcn": gcn_of,
    "symmetric": symmetric_of,
    "loops": with_loops,
}


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_as_it_is_defined(kind, weighted, edges):
    """Field case E4: self loops, repeated and directed edges, isolated nodes, no edges at all."""
    index = INDICES[edges]
    values = weights(index) if weighted else torch.ones(index.size(1), dtype=torch.float64)
    x = features()
    ours = prepare(kind, index, values, NODES) @ x
    torch.testing.assert_close(ours, DEFINITIONS[kind](index, values) @ x)


def test_the_gcn_kind_is_that_of_pyg():
    index, values = gcn_norm(INDICES["awkward"], weights(INDICES["awkward"]), NODES)
    ours = prepare("gcn", INDICES["awkward"], weights(INDICES["awkward"]), NODES)
    assert torch.equal(ours.index, index)
    assert torch.equal(ours.weight, values)


def test_the_symmetric_kind_keeps_the_edges_in_their_order():
    """What is known of edge e, its features, goes with weight e."""
    index = INDICES["awkward"]
    assert torch.equal(prepare("symmetric", index, weights(index), NODES).index, index)


def test_the_product_is_prepared_once(monkeypatch):
    made = []
    monkeypatch.setattr(
        Sparse,
        "of",
        classmethod(lambda cls, *arguments, of=Sparse.of: made.append(1) or of(*arguments)),
    )
    adjacency = prepare("sum", INDICES["ring"], weights(INDICES["ring"]), NODES)
    assert not made
    for _ in range(3):
        adjacency @ features()
    assert made == [1]
