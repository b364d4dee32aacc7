"""Many generated graphs, and what their classes are measured on."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.utils import is_undirected, to_networkx

from gymspace.errors import ConfigError
from gymspace.graph.generated import equal_frequency
from gymspace.graph.structures import LABELS, scale_frees, small_worlds

KINDS = {"small_worlds": small_worlds, "scale_frees": scale_frees}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("label", LABELS)
def test_graphs_have_equally_many_in_each_class_and_come_out_the_same(make, label):
    one, same = make(graphs=40, label=label), make(graphs=40, label=label)
    counts = torch.cat([data.y for data in one]).bincount()
    assert (len(counts), int(counts.sum())) == (10, 40)
    assert counts.max() - counts.min() <= 2
    for data, other in zip(one, same, strict=True):
        assert torch.equal(data.edge_index, other.edge_index)
        assert torch.equal(data.x, other.x)
        assert is_undirected(data.edge_index, num_nodes=64)
    assert not torch.equal(one[0].edge_index, make(graphs=40, seed=1)[0].edge_index)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_classes_are_those_of_the_measure(make):
    measures = {"clustering": nx.average_clustering, "path_length": path_length}
    for label, measure in measures.items():
        made = make(graphs=20, nodes=20, bins=4, label=label)
        values = np.array([measure(to_networkx(data, to_undirected=True)) for data in made])
        assert torch.cat([data.y for data in made]).tolist() == equal_frequency(values, 4).tolist()


def path_length(graph):
    lengths = [
        length for _, by in nx.all_pairs_shortest_path_length(graph) for length in by.values()
    ]
    return np.mean([length for length in lengths if length])


def test_two_components_count_the_paths_that_there_are():
    graph = nx.disjoint_union(nx.path_graph(3), nx.empty_graph(1))
    assert LABELS["path_length"](graph) == pytest.approx(4 / 3)
    assert LABELS["path_length"](nx.empty_graph(2)) == 0


@pytest.mark.parametrize(("feature", "width"), [("constant", 1), ("onehot", 12), ("degree", 1)])
def test_features_are_measured_on_the_nodes(feature, width):
    assert small_worlds(graphs=4, nodes=12, feature=feature, bins=2)[0].x.shape == (12, width)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"label": "pagerank"}, "dataset.label=pagerank: unknown measure; choices: clustering"),
        ({"feature": "size"}, "dataset.feature=size: unknown measure"),
        ({"graphs": 1}, "dataset.graphs=1: must be a whole number of 2 or more"),
        ({"nodes": 1}, "dataset.nodes=1: must be a whole number of"),
        ({"seed": -1}, "dataset.seed=-1: must be a whole number of 0 or more"),
    ],
)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_what_cannot_be_is_told(make, arguments, line):
    with pytest.raises(ConfigError) as caught:
        make(**arguments)
    assert line in str(caught.value)
