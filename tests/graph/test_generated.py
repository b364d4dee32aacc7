import networkx as nx
import numpy as np
import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.graph.generated import (
    FEATURES,
    LABELS,
    equal_frequency,
    pagerank,
    scale_free,
    small_world,
)


def undirected(data):
    pairs = set(map(tuple, data.edge_index.t().tolist()))
    return pairs == {(b, a) for a, b in pairs}


@pytest.mark.parametrize("make", [scale_free, small_world])
@pytest.mark.parametrize("label", LABELS)
def test_labels_are_classes_from_0_without_gaps(make, label):
    data = make(nodes=300, label=label, bins=4)
    assert undirected(data)
    assert data.y.unique().tolist() == list(range(int(data.y.max()) + 1))
    assert 2 <= int(data.y.max()) + 1 <= 4


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_has_a_row_per_node(feature):
    x = small_world(nodes=60, feature=feature).x
    assert x.shape == ((60, 60) if feature == "onehot" else (60, 1))
    assert x.dtype == torch.float32
    assert x.isfinite().all()


def test_degree_is_the_number_of_neighbours():
    data = scale_free(nodes=50, edges=2, feature="degree")
    counted = torch.bincount(data.edge_index[0], minlength=50)
    assert torch.equal(data.x[:, 0], counted.float())


def test_pagerank_has_mean_1_and_is_largest_in_the_middle_of_a_star():
    ranks = pagerank(nx.star_graph(5))
    assert ranks.mean() == pytest.approx(1)
    assert ranks.argmax() == 0
    assert ranks[1:] == pytest.approx(ranks[1])


def test_bins_have_equal_sizes_where_no_values_are_equal():
    values = np.random.default_rng(0).permutation(100) / 7
    assert np.bincount(equal_frequency(values, 4)).tolist() == [25, 25, 25, 25]
    assert equal_frequency(values, 4)[values.argmin()] == 0


def test_equal_values_share_a_class_and_empty_classes_are_dropped():
    values = np.array([5, 1, 1, 1, 1, 1, 2, 2, 9, 1 + 1e-15])
    assert equal_frequency(values, 5).tolist() == [2, 0, 0, 0, 0, 0, 1, 1, 2, 0]


@pytest.mark.parametrize("make", [scale_free, small_world])
def test_the_seed_alone_decides_the_graph(make):
    first, again, other = make(nodes=80), make(nodes=80), make(nodes=80, seed=1)
    assert torch.equal(first.edge_index, again.edge_index)
    assert torch.equal(first.y, again.y)
    assert not torch.equal(first.edge_index, other.edge_index)


@pytest.mark.parametrize(
    ("make", "wrong", "says"),
    [
        (scale_free, {"label": "clusterin"}, "did you mean clustering?"),
        (scale_free, {"feature": "one_hot"}, "did you mean onehot?"),
        (scale_free, {"nodes": 4}, "dataset.edges=4: must be a whole number from 1 to 3"),
        (scale_free, {"nodes": 10.5}, "dataset.nodes=10.5: must be a whole number"),
        (scale_free, {"bins": True}, "dataset.bins=True: must be a whole number"),
        (small_world, {"neighbors": 7}, "dataset.neighbors=7: must be even"),
        (small_world, {"rewire": 2}, "dataset.rewire=2: must be a number from 0 to 1"),
        (small_world, {"rewire": 0}, "gives all nodes the same class"),
    ],
)
def test_impossible_arguments_are_named(make, wrong, says):
    with pytest.raises(ConfigError) as caught:
        make(**wrong)
    assert says in str(caught.value)
