"""Encoders: raw features of nodes and edges as vectors of one width."""

import importlib

import torch
from torch import Tensor, nn

from gymspace.encodings.base import RowNorm
from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Sparse
from gymspace.graph.arguments import whole

Levels = tuple[int, ...] | None


class Encoder(nn.Module):
    """Features [M, dim_in] -> [M, dim_out], with BatchNorm after it if asked for.

    ``dim`` is the width, that of the model's inner layers by default.
    """

    key: str

    def __init__(self, dim_inner: int, dim: int | None, norm: bool):
        super().__init__()
        self.dim_out = dim_inner if dim is None else whole(f"{self.key}.dim", dim, 1)
        self.norm = RowNorm(self.dim_out) if norm else None

    def forward(self, features: Tensor | Sparse) -> Tensor:
        encoded = self.encode(features)
        return encoded if self.norm is None else self.norm(encoded)

    def encode(self, features: Tensor | Sparse) -> Tensor:
        """The features before the norm."""
        raise NotImplementedError


class Linear(Encoder):
    """A linear map, fast where most features are zero."""

    def __init__(self, dim_in: int, dim_inner: int, dim: int | None = None, norm: bool = False):
        super().__init__(dim_inner, dim, norm)
        self.weight = nn.Parameter(torch.empty(dim_in, self.dim_out))
        self.bias = nn.Parameter(torch.zeros(self.dim_out))
        nn.init.xavier_uniform_(self.weight)

    def encode(self, features: Tensor | Sparse) -> Tensor:
        return features @ self.weight + self.bias

    def extra_repr(self) -> str:
        return f"{self.weight.size(0)}, {self.dim_out}"


class Integer(Encoder):
    """A learnt vector for each whole number; those of several columns are added.

    ``types`` is how many numbers there are in each column; by default as many as the data has.
    """

    def __init__(
        self,
        dim_in: int,
        dim_inner: int,
        levels: Levels,
        dim: int | None = None,
        types: int | None = None,
        norm: bool = False,
    ):
        super().__init__(dim_inner, dim, norm)
        found = require_levels(self.key, levels)
        if types is not None and whole(f"{self.key}.types", types, 1) < max(found):
            problem = f"the data has numbers up to {max(found) - 1}"
            raise ConfigError(f"{self.key}.types", problem, value=types)
        self._embed([types] * dim_in if types else list(found))

    def _embed(self, sizes: list[int]) -> None:
        tables = [nn.Embedding(size, self.dim_out) for size in sizes]
        for table in tables:
            nn.init.xavier_uniform_(table.weight)
        self.tables = nn.ModuleList(tables)

    def encode(self, features: Tensor | Sparse) -> Tensor:
        dense = features.matrix.to_dense() if isinstance(features, Sparse) else features
        columns = dense.round().long().unbind(dim=1)
        # Not by sum(), which starts from the number 0.
        return torch.stack([t(c) for t, c in zip(self.tables, columns, strict=True)]).sum(dim=0)


class OGB(Integer):
    """Learnt vectors of the categories of chemistry that the package ogb numbers, added."""

    ask: str  # ogb's function that tells how many there are in each column

    def __init__(
        self,
        dim_in: int,
        dim_inner: int,
        levels: Levels,
        dim: int | None = None,
        norm: bool = False,
    ):
        Encoder.__init__(self, dim_inner, dim, norm)
        found, name = require_levels(self.key, levels), type(self).__name__.lower()
        sizes = self._sizes(name)
        if len(found) != len(sizes) or any(n > size for n, size in zip(found, sizes, strict=True)):
            problem = f"needs {len(sizes)} columns of OGB's {name} features, and these are others"
            raise ConfigError(self.key, problem, value=name)
        self._embed(sizes)

    def _sizes(self, name: str) -> list[int]:
        try:
            features = importlib.import_module("ogb.utils.features")
        except ImportError as error:
            problem = "needs the package ogb (pip install ogb), which is not installed"
            raise ConfigError(self.key, problem, value=name) from error
        return list(getattr(features, self.ask)())


class LinearNode(Linear):
    """A linear map of node features."""

    key = "model.node_encoder"


class IntegerNode(Integer):
    """A learnt vector for each type of node."""

    key = "model.node_encoder"


class Atom(OGB):
    """Vectors of OGB's atom features."""

    key = "model.node_encoder"
    ask = "get_atom_feature_dims"


class LinearEdge(Linear):
    """A linear map of edge features."""

    key = "model.edge_encoder"


class IntegerEdge(Integer):
    """A learnt vector for each type of edge."""

    key = "model.edge_encoder"


class Bond(OGB):
    """Vectors of OGB's bond features."""

    key = "model.edge_encoder"
    ask = "get_bond_feature_dims"


def require_levels(key: str, levels: Levels) -> tuple[int, ...]:
    """``levels``, or `ConfigError` where features are no whole numbers from 0 on."""
    if not levels:
        raise ConfigError(key, "needs features that are whole numbers from 0 on, and these are not")
    return levels
