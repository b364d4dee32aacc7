"""Encodings by the spectrum of the normalised Laplacian of the undirected graph without loops."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gymspace.encodings.base import Encoding, Mapped, Tensors, as_float, mlp
from gymspace.encodings.matrices import components, symmetric_walk, undirected
from gymspace.encodings.spectra import lowest
from gymspace.encodings.walks import diagonals
from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole
from gymspace.graph.graph import Graph

# Nodes of a graph up to which a dense inverse or a distance for every pair is computed.
DENSE_NODES = 5000


class Eigenvectors(Encoding):
    """The ``k`` lowest non-trivial eigenvectors, zero and masked where a component has fewer.

    Tensors: ``<name>`` [N, k] of length one over each component, ``<name>.values`` [N, k],
    ``<name>.mask`` [N, k] bool (whether there is one), ``<name>.size`` [N, 1] of the component.
    """

    def __init__(self, k: int, dim: int):
        super().__init__()
        self.k = whole("encodings.k", k, 1)
        self.dim = whole("encodings.dim", dim, 1)

    def settings(self) -> Mapping[str, Any]:
        return {"k": self.k}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        found = lowest(undirected(edge_index, nodes), self.k)
        return {
            self.name: as_float(found.vectors),
            f"{self.name}.values": as_float(found.values),
            f"{self.name}.mask": torch.from_numpy(found.there),
            f"{self.name}.size": as_float(found.size).unsqueeze(1),
        }

    def vectors(self, graph: Graph) -> Tensor:
        """Eigenvectors [N, k] whose mean square over a component is one, whatever its size."""
        return _vectors(graph, self.name)

    def part(self, graph: Graph, name: str) -> Tensor:
        """The tensor ``name`` [N, k] with a last dimension of one: [N, k, 1]."""
        return graph.encodings[f"{self.name}.{name}"].unsqueeze(-1)


class Lap(Eigenvectors):
    """Laplacian eigenvectors with eigenvalues, as a sum over the pairs through a small network.

    Dwivedi & Bresson 2021; DeepSet over pairs as in Rampasek et al. 2022. In training the sign of
    each vector is drawn anew for each graph.
    """

    name = "lap"

    def __init__(self, k: int = 8, dim: int = 16, layers: int = 2):
        super().__init__(k, dim)
        whole("encodings.layers", layers, 1)
        self.each = mlp(2, *[2 * dim] * (layers - 1), dim)
        self.all = nn.Sequential(nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, graph: Graph) -> Tensor:
        vectors = self.vectors(graph)
        if self.training:
            vectors = vectors * self._flips(vectors, graph.batch)
        pairs = torch.cat([vectors.unsqueeze(-1), self.part(graph, "values")], dim=-1)
        return self.all((self.each(pairs) * self.part(graph, "mask")).sum(dim=1))

    def _flips(self, vectors: Tensor, batch: Tensor | None) -> Tensor:
        graphs = int(batch[-1]) + 1 if batch is not None and batch.numel() else 1
        signs = torch.randint(0, 2, (graphs, self.k), device=vectors.device) * 2 - 1
        return signs if batch is None else signs[batch]


class SignNet(Eigenvectors):
    """SignNet (Lim et al. 2022): rho over all vectors v of phi(v) + phi(-v), blind to their signs.

    phi is a GIN on the graph with ``layers`` layers, rho a network on its outputs side by side.
    """

    name = "signnet"

    def __init__(self, k: int = 8, dim: int = 16, hidden: int = 16, layers: int = 2):
        super().__init__(k, dim)
        whole("encodings.layers", layers, 1)
        whole("encodings.hidden", hidden, 1)
        widths = [2, *[hidden] * (layers - 1)]
        self.phi = nn.ModuleList(mlp(width, hidden, hidden) for width in widths)
        self.rho = mlp(k * hidden, 2 * dim, dim)

    def forward(self, graph: Graph) -> Tensor:
        vectors, values = self.vectors(graph).unsqueeze(-1), self.part(graph, "values")
        both = [self._phi(graph, torch.cat([v, values], -1)) for v in (vectors, -vectors)]
        masked = (both[0] + both[1]) * self.part(graph, "mask")
        return self.rho(masked.flatten(1))

    def _phi(self, graph: Graph, x: Tensor) -> Tensor:
        for layer in self.phi:
            nodes, k, width = x.shape
            passed = graph.adj("sum") @ x.reshape(nodes, k * width)
            x = layer(x + passed.view(nodes, k, width))
        return x


class EquivStableLap(Eigenvectors):
    """Positions that matter by their distances alone, so that no choice of eigenvectors does.

    After PEG (Wang et al. 2022), whose layers are gated by distances too, as ``gatedgcn`` is with
    ``positions``: distances between the ends of edges do not change when vectors
    are flipped, or rotated within an eigenspace. A node gets the mean over its incoming edges,
    through a small network, and its own distance from the origin, through another.
    """

    name = "equivstable_lap"

    def __init__(self, k: int = 8, dim: int = 16):
        super().__init__(k, dim)
        self.link = mlp(1, dim, dim)
        self.own = mlp(1, dim, dim)

    def forward(self, graph: Graph) -> Tensor:
        place, target = positions(graph), graph.links.index[1]
        links = self.link(gaps(graph))
        total = links.new_zeros(place.size(0), self.dim).index_add(0, target, links)
        count = torch.bincount(target, minlength=place.size(0)).clamp(min=1).unsqueeze(1)
        return total / count + self.own(place.square().sum(-1, keepdim=True) / self.k)


def positions(graph: Graph) -> Tensor:
    """Where its encoding ``equivstable_lap`` places the nodes of ``graph``: [N, k].

    Raises:
        ConfigError: the graph has no such encoding.
    """
    if EquivStableLap.name not in graph.encodings:
        problem = f"needs the nodes' positions: encodings=[{EquivStableLap.name}]"
        raise ConfigError("model.layer.positions", problem, value=True)
    return _vectors(graph, EquivStableLap.name)


def gaps(graph: Graph) -> Tensor:
    """Mean squared difference of the positions of an edge's ends: [E, 1]."""
    source, target = graph.links.index
    place = positions(graph)
    return (place[source] - place[target]).square().mean(dim=-1, keepdim=True)


def _vectors(graph: Graph, name: str) -> Tensor:
    return graph.encodings[name] * graph.encodings[f"{name}.size"].sqrt()


class HeatKernel(Mapped):
    """How much heat is left on a node: the diagonal of exp(-t L) for t = 1 .. ``times``.

    exp(-t L) = exp(-t) sum of t^m / m! M^m with M = I - L, so its diagonal is a series in those of
    the powers of M. An isolated node keeps all of it.
    """

    name = "heat"

    def __init__(self, times: int = 16, dim: int = 16):
        super().__init__(whole("encodings.times", times, 1), whole("encodings.dim", dim, 1))
        self.times = times

    def settings(self) -> Mapping[str, Any]:
        return {"times": self.times}

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        matrix = undirected(edge_index, nodes)
        # |diagonal| <= 1, so what is left out is less than a Poisson tail: below 1e-8.
        steps = math.ceil(self.times + 6 * math.sqrt(self.times) + 6)
        powers = diagonals(symmetric_walk(matrix), steps, symmetric=True, what=self.name)
        powers[matrix.sum(axis=1) == 0] = 1.0
        t = np.arange(1, self.times + 1)
        m = np.arange(steps + 1)[:, None]
        logs = np.array([math.lgamma(step + 1) for step in range(steps + 1)])[:, None]
        weights = np.exp(m * np.log(t) - t - logs)
        return {self.name: as_float(weights[0] + powers @ weights[1:])}


class Electrostatic(Mapped):
    """Potentials of unit charges on the nodes of a component (Kreuzer et al. 2021), in 7 numbers.

    With V the pseudo-inverse of D - A and U[i, j] = V[i, j] - V[j, j], the potential at i of a
    charge at j against that at the charge: least, mean and spread over i, mean and spread over j,
    and the mean over a node's neighbours either way. For graphs of up to 5,000 nodes.
    """

    name = "electrostatic"

    def __init__(self, dim: int = 16):
        super().__init__(7, whole("encodings.dim", dim, 1))

    def compute(self, edge_index: Tensor, nodes: int) -> Tensors:
        require_small(self.name, nodes)
        matrix = undirected(edge_index, nodes)
        found = np.zeros((nodes, 7))
        for own in components(matrix):
            if len(own) > 1:
                found[own] = _potentials(matrix[own][:, own].toarray())
        return {self.name: as_float(found)}


def _potentials(links: np.ndarray) -> np.ndarray:
    degree = links.sum(axis=1)
    nodes = len(links)
    # The pseudo-inverse of a connected graph's Laplacian, by shifting its one zero to 1.
    mean = np.full((nodes, nodes), 1.0 / nodes)
    inverse = np.linalg.inv(np.diag(degree) - links + mean) - mean
    across = inverse - inverse.diagonal()
    share = links / degree[:, None]
    return np.stack(
        [
            across.min(axis=0),
            across.mean(axis=0),
            across.std(axis=0),
            across.mean(axis=1),
            across.std(axis=1),
            (share * across).sum(axis=1),
            (share * across.T).sum(axis=1),
        ],
        axis=1,
    )


def require_small(name: str, nodes: int) -> None:
    """Raise `ConfigError` for a graph that is too large for a dense matrix of its nodes."""
    if nodes > DENSE_NODES:
        problem = f"is for graphs of up to {DENSE_NODES:,} nodes, and this has {nodes:,}"
        raise ConfigError("encodings", problem, value=name)
