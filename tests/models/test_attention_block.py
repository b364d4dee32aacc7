"""BigBird against softmax over the pairs that it sees, and which blocks those are."""

import pytest
import torch
from torch.testing import assert_close

from gymspace.errors import ConfigError
from gymspace.models.attention_block import seen_blocks
from tests.models.batches import attention, by_pairs, random_graph, visible


@pytest.mark.parametrize("random", [0, 2])
@pytest.mark.parametrize("nodes", [3, 12, 30])
def test_bigbird_is_softmax_over_what_is_seen(nodes, random):
    module, graph = attention("bigbird", block=3, window=1, random=random), random_graph(nodes)
    place = torch.arange(nodes) // 3
    mine, theirs = place[:, None], place[None, :]
    seen = ((mine - theirs).abs() <= 1) | (mine == 0) | (theirs == 0)
    drawn = seen_blocks(int(place[-1]) + 1, 1, random, 0)[place]
    seen |= (drawn[:, None, :] == theirs[..., None]).any(-1)
    assert_close(module(graph), by_pairs(module, graph, visible(seen)))
    assert seen.all() == (nodes == 3 or (nodes, random) == (12, 2))


def test_a_graph_of_few_blocks_is_attended_in_full():
    module, graph = attention("bigbird", block=16), random_graph(30)
    assert_close(module(graph), by_pairs(module, graph, torch.zeros(1, 30, 30)))


def test_blocks_see_window_first_and_random_ones_once():
    seen = seen_blocks(50, window=1, random=2, seed=0)
    for block, row in enumerate(seen.tolist()):
        kept = [other for other in row if other >= 0]
        assert len(kept) == len(set(kept))
        assert {0, block} | ({block - 1, block + 1} & set(range(50))) <= set(kept)
        assert max(kept) < 50
    assert (seen >= 0).sum(1).max() == 6
    assert torch.equal(seen, seen_blocks.__wrapped__(50, 1, 2, 0))
    assert not torch.equal(seen, seen_blocks(50, 1, 2, 1))


@pytest.mark.parametrize(("name", "value"), [("block", 0), ("window", -1), ("random", -1)])
def test_sizes_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ConfigError, match=rf"^model\.attention\.{name}={value}: must be"):
        attention("bigbird", **{name: value})
