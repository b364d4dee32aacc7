"""Encoders of nodes and edges: linear, by number, by OGB's categories; what each refuses."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Sparse
from gymspace.schema import Component
from gymspace.training.encoded import levels

NODE, EDGE = "model.node_encoder", "model.edge_encoder"
TYPES = torch.tensor([[0.0, 2], [1, 0], [1, 1]])


def encoder(key, name, features, dim_inner=5, **args):
    torch.manual_seed(0)
    component = Component.model_validate({"name": name, **args})
    offered = {"dim_inner": dim_inner, "levels": levels(features)}
    return registry.build(key, component, features.size(1), **offered)


@pytest.fixture
def ogb(monkeypatch):
    """What gymspace asks of the package ogb, with tables of its own."""
    features = SimpleNamespace(
        get_atom_feature_dims=lambda: [4, 3], get_bond_feature_dims=lambda: [2]
    )
    for name in ("ogb", "ogb.utils"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ogb.utils.features", features)


@pytest.mark.parametrize("key", [NODE, EDGE])
def test_linear_is_a_linear_map_as_wide_as_the_model_or_as_asked(key):
    made = encoder(key, "linear", TYPES)
    assert torch.allclose(made(TYPES), functional.linear(TYPES, made.weight.T, made.bias))
    assert made(TYPES).shape == (3, made.dim_out) == (3, 5)
    assert encoder(key, "linear", TYPES, dim=7)(TYPES).shape == (3, 7)


def test_linear_takes_sparse_features():
    made, index = encoder(NODE, "linear", TYPES), TYPES.nonzero().T
    sparse = Sparse.of(index, TYPES[index[0], index[1]], (3, 2))
    assert torch.allclose(made(sparse), made(TYPES))


@pytest.mark.parametrize("key", [NODE, EDGE])
def test_integers_look_up_a_vector_in_each_column_and_add_them(key):
    made = encoder(key, "integer", TYPES)
    first, second = (table.weight for table in made.tables)
    assert (first.shape, second.shape) == ((2, 5), (3, 5))
    assert torch.equal(made(TYPES)[0], first[0] + second[2])
    assert torch.equal(made(TYPES)[2], first[1] + second[1])
    assert encoder(key, "integer", TYPES, types=9).tables[0].weight.shape == (9, 5)


def test_every_type_that_occurs_learns():
    made = encoder(NODE, "integer", TYPES)
    made(TYPES).square().sum().backward()
    assert all((table.weight.grad.abs().sum(dim=1) > 0).all() for table in made.tables)


@pytest.mark.parametrize("name", ["linear", "integer"])
def test_batchnorm_follows_on_request(name):
    plain, normed = encoder(NODE, name, TYPES), encoder(NODE, name, TYPES, norm=True)
    expected = functional.batch_norm(plain(TYPES), None, None, training=True)
    assert torch.allclose(normed(TYPES), expected)
    assert plain.norm is None
    assert normed(TYPES[:1]).isfinite().all()


def test_atoms_and_bonds_have_ogbs_sizes(ogb):
    atoms, bonds = encoder(NODE, "atom", TYPES), encoder(EDGE, "bond", TYPES[:, :1])
    assert [table.num_embeddings for table in atoms.tables] == [4, 3]
    assert [table.num_embeddings for table in bonds.tables] == [2]
    assert atoms(TYPES).shape == bonds(TYPES[:, :1]).shape == (3, 5)


@pytest.mark.parametrize(
    ("key", "name", "features"),
    [
        (NODE, "atom", torch.tensor([[0.0, 3]])),
        (NODE, "atom", torch.tensor([[0.0]])),
        (EDGE, "bond", TYPES),
    ],
)
def test_other_categories_than_ogbs_are_told(ogb, key, name, features):
    with pytest.raises(ConfigError, match=rf"{key}={name}: needs \d columns of OGB's {name}"):
        encoder(key, name, features)


@pytest.mark.parametrize(("key", "name"), [(NODE, "atom"), (EDGE, "bond")])
def test_a_missing_ogb_is_told(monkeypatch, key, name):
    """Field case F4."""
    for module in ("ogb", "ogb.utils", "ogb.utils.features"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError) as caught:
        encoder(key, name, TYPES)
    problem = "needs the package ogb (pip install ogb), which is not installed"
    assert str(caught.value) == f"{key}={name}: {problem}"


@pytest.mark.parametrize("features", [TYPES - 1, TYPES / 2, TYPES + torch.nan])
@pytest.mark.parametrize(
    ("key", "name"), [(NODE, "integer"), (NODE, "atom"), (EDGE, "integer"), (EDGE, "bond")]
)
def test_features_that_are_no_whole_numbers_are_told(ogb, key, name, features):
    with pytest.raises(ConfigError, match=rf"{key}: needs features that are whole numbers"):
        encoder(key, name, features)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"types": 2}, "model.node_encoder.types=2: the data has numbers up to 2"),
        ({"types": 0}, "model.node_encoder.types=0: must be a whole number of 1 or more"),
        ({"dim": 0}, "model.node_encoder.dim=0: must be a whole number of 1 or more"),
        (
            {"num": 3},
            "model.node_encoder.num=3: 'integer' takes no such argument; choices: dim, types, norm",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_told(args, line):
    with pytest.raises(ConfigError) as caught:
        encoder(NODE, "integer", TYPES, **args)
    assert str(caught.value).startswith(line)


def test_edges_without_any_have_no_vectors():
    none = torch.empty(0, 2)
    for name in ("linear", "integer"):
        assert encoder(EDGE, name, none, norm=True)(none).shape == (0, 5)
