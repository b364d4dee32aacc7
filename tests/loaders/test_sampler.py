"""Samples are subgraphs around their seeds, uniform, and the same for the same key."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from gymspace.errors import ConfigError
from gymspace.loaders.rows import _LIMIT
from gymspace.loaders.sampler import Workspace, sample
from gymspace.loaders.topology import Network, Topology
from tests.loaders import reference

NODES = 300


@pytest.fixture(scope="module")
def edges() -> np.ndarray:
    """Columns of 0 to 200 edges, so that every way of drawing is met; nodes without edges too."""
    draw = np.random.default_rng(0)
    degrees = draw.integers(0, 12, NODES)
    degrees[:4] = 64, 65, 200, 90
    target = draw.permutation(np.repeat(np.arange(NODES), degrees))
    return np.stack([draw.integers(0, NODES, target.size), target])


@pytest.fixture(scope="module")
def topology(edges) -> Topology:
    return Topology.of(edges, NODES)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("fanouts", [[3], [5, 2], [40, 3], [-1, 2], [2, 0, 2], [2, 3, 2, 1]])
def test_a_sample_is_the_slow_one(edges, topology, fanouts, replace):
    seeds, key = [0, 7, 2, 1, 3, 299], (3, 1, 4)
    nodes, pairs, places, hops = reference.sample(edges, seeds, fanouts, key, replace)
    found = sample(topology, torch.tensor(seeds), fanouts, key=key, replace=replace)
    assert found.nodes.tolist() == nodes
    assert [tuple(pair) for pair in found.index.T.tolist()] == pairs
    assert topology.places(found.edge).tolist() == places
    assert (found.hops.nodes, found.hops.edges) == tuple(map(tuple, hops))


def test_a_sample_is_a_subgraph_by_hops(edges, topology):
    seeds = torch.arange(0, NODES, 7)
    found = sample(topology, seeds, [10, 10, 5], key=(0, 0, 0))
    assert torch.equal(found.nodes[: len(seeds)], seeds)
    assert found.nodes.unique().numel() == found.nodes.numel()
    places = topology.places(found.edge)
    assert np.array_equal(edges[:, places], found.nodes[found.index].numpy())
    assert places.unique().numel() == places.numel()
    ends = np.cumsum(found.hops.nodes)
    for hop, part in enumerate(found.index.split(list(found.hops.edges), dim=1)):
        assert part[1].lt(int(ends[hop])).all()
        assert part[0].lt(int(ends[hop + 1])).all()
        degree = part[1].bincount(minlength=int(ends[hop]))
        assert degree.max() <= [10, 10, 5][hop]


@pytest.mark.parametrize(("size", "fanout"), [(20, 6), (64, 5), (100, 6), (100, 40)])
@pytest.mark.parametrize("replace", [False, True])
def test_every_neighbour_is_as_likely(size, fanout, replace):
    star = Topology.of(np.stack([np.arange(1, size + 1), np.zeros(size, int)]), size + 1)
    space, counts = Workspace(Network.one(star)), np.zeros(size)
    for batch in range(3000):
        found = sample(star, [0], [fanout], key=(5, 0, batch), replace=replace, workspace=space)
        np.add.at(counts, found.edge.numpy(), 1)
    assert counts.sum() == 3000 * fanout
    assert chisquare(counts).pvalue > 1e-3


def test_batches_are_functions_of_their_key_whatever_the_threads(topology):
    """Field case F3."""

    def draw(batches: list[int]) -> dict[int, list]:
        space = Workspace(Network.one(topology))
        seeds = [torch.arange(batch, NODES, 20) for batch in range(20)]
        return {
            b: sample(topology, seeds[b], [4, 3], key=(1, 2, b), workspace=space).edge.tolist()
            for b in batches
        }

    inline = draw(list(range(20)))
    with ThreadPoolExecutor(3) as pool:
        parts = pool.map(draw, [list(range(n, 20, 3))[::-1] for n in range(3)])
    assert {b: edges for part in parts for b, edges in part.items()} == inline
    assert sample(
        topology, torch.arange(1, NODES, 20), [4, 3], key=(1, 3, 1)
    ).edge.tolist() not in (inline[1],)


def test_a_seed_that_comes_twice_has_two_rows(topology):
    found = sample(topology, [5, 5, 0], [-1])
    assert found.nodes[:3].tolist() == [5, 5, 0]
    assert found.index[1].bincount(minlength=3).tolist()[0] == topology.start[6] - topology.start[5]
    assert found.index[1].eq(0).sum() == found.index[1].eq(1).sum()


def test_stamps_that_run_out_change_nothing(topology):
    """Stamps start anew in the middle of a batch; field case F3."""
    space, seeds = Workspace(Network.one(topology)), torch.arange(100)
    fresh = sample(topology, seeds, [5, 5])
    for left in (50, 150, fresh.nodes.numel()):
        space.rows["node"].base, space.rows["node"].count = _LIMIT - left, 0
        again = sample(topology, seeds, [5, 5], workspace=space)
        assert torch.equal(again.nodes, fresh.nodes)
        assert torch.equal(again.index, fresh.index)


def test_seeds_without_edges_and_no_seeds_at_all():
    """Field case E4."""
    bare = Topology.of(torch.empty(2, 0, dtype=torch.long), 3)
    found = sample(bare, [2, 0], [4, -1])
    assert (found.nodes.tolist(), found.index.shape) == ([2, 0], (2, 0))
    assert found.hops.nodes == (2, 0, 0)
    assert sample(bare, torch.empty(0, dtype=torch.long), [2]).nodes.numel() == 0


@pytest.mark.parametrize(
    ("seeds", "fanouts", "line"),
    [
        ([0], [], "fanouts=[]: must be a list with one number for each hop"),
        ([0], 10, "fanouts=10: must be a list"),
        ([0], [2, -2], "fanouts=[2, -2]: takes integers of 0 or more, or -1 for all"),
        ([0], [True], "fanouts=[True]: takes integers"),
        ([0], [1.5], "fanouts=[1.5]: takes integers"),
        ([NODES], [2], "seeds: node 300 is none of the 300 nodes"),
        ([-1], [2], "seeds: node -1 is none"),
        ([0.5], [2], "seeds: float64 of shape [1], not a list of nodes"),
        ([[0]], [2], "seeds: int64 of shape [1, 1], not a list of nodes"),
    ],
)
def test_what_cannot_be_sampled_is_one_line(topology, seeds, fanouts, line):
    with pytest.raises(ConfigError) as caught:
        sample(topology, np.array(seeds), fanouts)
    assert str(caught.value).startswith(line)
