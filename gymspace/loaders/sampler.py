"""Subgraphs around seeds: neighbours of neighbours, hop by hop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.graph.graph import EdgeType, Hops
from gymspace.loaders import kernels
from gymspace.loaders.rows import Rows, room
from gymspace.loaders.topology import Given, Network, Topology

Key = tuple[int, int, int]
_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Sample:
    """Sampled ``nodes`` [N], seeds first, and ``index`` [2, E] (source, target), rows of them.

    ``edge`` [E] has the place of each edge in the columns of the topology (its ``places`` tells
    those in the given list).
    """

    nodes: Tensor
    index: Tensor
    edge: Tensor
    hops: Hops


def sample(
    topology: Topology,
    seeds: Given,
    fanouts: Sequence[int],
    *,
    key: Key = (0, 0, 0),
    replace: bool = False,
    workspace: "Workspace | None" = None,
) -> Sample:
    """Neighbours of ``seeds`` [S], up to ``fanouts[k]`` of each node new in hop k; -1 is all.

    ``key`` is (seed, epoch, batch): the same key gives the same sample, in whichever thread. What
    ``workspace`` holds is used again from call to call; each thread needs its own. Neighbours of a
    node are different unless ``replace``. Raises ConfigError for seeds and fanouts that cannot be.
    """
    network = Network.one(topology)
    ((kind, count),) = network.nodes.items()
    space = workspace or Workspace(network)
    levels = dict.fromkeys(network.links, check_fanouts(fanouts))
    first = {kind: check_seeds(seeds, count)}
    _grow(network, space, first, levels, key, replace)
    (found,) = space.found.values()
    return _homogeneous(space.rows[kind], found)


def check_fanouts(fanouts: Any, key: str = "fanouts") -> tuple[int, ...]:
    """As a tuple; ConfigError unless it is a list of integers of -1 (all) or more."""
    given = fanouts if isinstance(fanouts, Sequence) and not isinstance(fanouts, str) else None
    if not given:
        raise ConfigError(key, "must be a list with one number for each hop", value=fanouts)
    for number in given:
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < -1:
            raise ConfigError(key, "takes integers of 0 or more, or -1 for all", value=fanouts)
    return tuple(int(number) for number in given)


def check_seeds(seeds: Given, count: int, key: str = "seeds") -> np.ndarray:
    """As int64 [S], from a mask [``count``] too; ConfigError if one is no node."""
    nodes = np.asarray(seeds)
    if nodes.dtype == bool and nodes.shape == (count,):
        nodes = np.flatnonzero(nodes)
    if nodes.ndim != 1 or (nodes.dtype.kind not in "iu" and nodes.size):
        problem = f"{nodes.dtype} of shape {list(nodes.shape)}, not a list of nodes"
        raise ConfigError(key, problem)
    if nodes.size and (nodes.min() < 0 or nodes.max() >= count):
        bad = nodes.min() if nodes.min() < 0 else nodes.max()
        raise ConfigError(key, f"node {bad} is none of the {count} nodes")
    return nodes.astype(np.int64, copy=False)


def stream(key: Key) -> np.uint64:
    """The first state of the draws of ``key``."""
    state = 0
    for part in key:
        state = int(kernels.mixed(np.uint64((state + part + int(kernels.GOLDEN)) & _MASK)))
    return np.uint64(state)


class Found:
    """Sampled edges of one type: their places, rows of source and target, ends of the hops."""

    def __init__(self, topology: Topology):
        """Buffers that grow as needed; empty."""
        self.edge = np.empty(0, topology.start.dtype)
        self.source = np.empty(0, topology.source.dtype)
        self.target = np.empty(0, np.int32)
        self.bounds = [0]

    def reserve(self, more: int) -> None:
        """Make room for ``more`` edges."""
        used = self.bounds[-1]
        self.edge = room(self.edge, used, used + more)
        self.source = room(self.source, used, used + more)
        self.target = room(self.target, used, used + more)


class Workspace:
    """What sampling needs besides the graph, for one thread: 4 bytes a node, and buffers."""

    def __init__(self, network: Network):
        """For samples of ``network``."""
        self.rows = {kind: Rows(count) for kind, count in network.nodes.items()}
        self.found = {link: Found(topology) for link, topology in network.links.items()}
        longest = max((topology.start.dtype for topology in network.links.values()), key=str)
        self.low, self.high = np.empty(0, longest), np.empty(0, longest)


def _grow(
    network: Network,
    space: Workspace,
    seeds: Mapping[str, np.ndarray],
    fanouts: Mapping[EdgeType, tuple[int, ...]],
    key: Key,
    replace: bool,
) -> None:
    """Sample hop by hop into ``space``."""
    state = stream(key)
    nothing = np.empty(0, np.int64)
    for kind, rows in space.rows.items():
        rows.begin(seeds.get(kind, nothing))
    for found in space.found.values():
        found.bounds = [0]
    for hop in range(len(next(iter(fanouts.values())))):
        for link, topology in network.links.items():
            state = _expand(topology, space, link, hop, fanouts[link][hop], state, replace)
        for rows in space.rows.values():
            rows.end_hop()


def _expand(
    topology: Topology,
    space: Workspace,
    link: EdgeType,
    hop: int,
    fanout: int,
    state: np.uint64,
    replace: bool,
) -> np.uint64:
    """Edges of one type into the nodes that are new in ``hop``; returns the next state."""
    rows, found = space.rows[link[2]], space.found[link]
    first, last = (rows.bounds[-2] if hop else 0), rows.bounds[-1]
    count, begin = last - first, found.bounds[-1]
    space.low, space.high = room(space.low, 0, count), room(space.high, 0, count)
    kernels.spans(topology.start, rows.nodes, first, last, space.low, space.high)
    found.reserve(kernels.wanted(space.low, space.high, count, fanout, replace))
    pick = kernels.draw_again if replace else kernels.draw
    to = (found.edge, found.target, begin)
    end, state = pick(space.low, space.high, count, fanout, state, first, *to)
    more = slice(begin, end)
    space.rows[link[0]].add(topology.source, found.edge, found.source, more)
    found.bounds.append(end)
    return np.uint64(state)


def _homogeneous(rows: Rows, found: Found) -> Sample:
    used = found.bounds[-1]
    index = torch.empty((2, used), dtype=torch.long)
    index.numpy()[0] = found.source[:used]
    index.numpy()[1] = found.target[:used]
    edge = torch.from_numpy(found.edge[:used].astype(np.int64))
    nodes = torch.from_numpy(rows.nodes[: rows.count].copy())
    hops = Hops(_steps([0, *rows.bounds[1:]]), _steps(found.bounds))
    return Sample(nodes, index, edge, hops)


def _steps(bounds: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(step) for step in np.diff(bounds))
