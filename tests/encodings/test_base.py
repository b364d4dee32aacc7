"""What holds for every encoding, on every awkward graph."""

import pytest
import torch

from gymspace.encodings.base import RowNorm
from tests.encodings.graphs import GRAPHS, NAMES, built, carrying, tensors, wild


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", NAMES)
def test_any_graph_can_be_encoded(name, graph):
    """Field case E4: directed, self loops, isolated nodes, components, no edges, one node."""
    index, nodes = GRAPHS[graph]
    carried, encoding = carrying(name, index, nodes), built(name, nodes)
    for mode in (True, False):
        out = encoding.train(mode)(carried)
        assert out.shape == (nodes, encoding.dim)
        assert out.dtype == torch.float64
        assert out.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_computed_is_the_same_each_time(name):
    _, index = wild()
    once, again = tensors(name, index, 30), tensors(name, index, 30)
    assert once.keys() == again.keys()
    assert all(torch.equal(once[key], again[key]) for key in once)
    assert all(tensor.size(0) == 30 for tensor in once.values())


@pytest.mark.parametrize("name", NAMES)
def test_main_tensor_and_parts_go_by_the_encodings_name(name):
    keys = tensors(name, GRAPHS["two"][0], 9).keys()
    assert name in keys
    assert all(key == name or key.startswith(f"{name}.") for key in keys)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("onehot", "spd")])
def test_numbering_of_the_nodes_does_not_matter(name):
    """Eigenvectors of their own eigenspace are compared by size: a sign is a choice."""
    _, index = wild(12, 0.12, seed=5)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    found, moved = (tensors(name, i, 12, **few(name)) for i in (index, order[index]))
    for key, tensor in found.items():
        size, there = tensor.double().abs(), moved[key][order].double().abs()
        torch.testing.assert_close(there, size, rtol=0, atol=1e-6)


def few(name):
    return {"k": 1} if name in ("lap", "signnet", "equivstable_lap") else {}


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_learns(name):
    _, index = wild()
    encoding, graph = built(name, 30), carrying(name, index, 30)
    out = encoding(graph)
    if not list(encoding.parameters()):
        assert not out.requires_grad
        return
    (out * torch.linspace(-1, 2, out.numel()).view_as(out)).sum().backward()
    for key, parameter in encoding.named_parameters():
        assert parameter.grad.abs().sum() > 0, key


def test_a_single_row_is_normed_by_what_was_seen_before():
    norm = RowNorm(2).double()
    rows = torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64)
    norm(rows)
    seen = norm.running_mean.clone(), norm.running_var.clone()
    one = norm(rows[:1])
    assert torch.equal(norm.running_mean, seen[0])
    assert torch.equal(norm.running_var, seen[1])
    torch.testing.assert_close(one, norm.eval()(rows[:1]))
    assert norm.train()(rows[:0]).shape == (0, 2)
