import networkx as nx
import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.graph.objects import as_pyg
from gymspace.graph.task import load_source, split_task
from gymspace.spec import parse
from tests.graph import networks


def asked(name, split="own", **args):
    dataset = {"name": f"tests.graph.networks:{name}", **args}
    return parse({"dataset": dataset, "data": {"split": split}})


def test_attributes_of_nodes_become_features_labels_and_masks():
    data = as_pyg(networks.club(), "club")
    assert data.x.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert (data.y.tolist(), data.classes) == ([1, 0, -1], ("blue", "red"))
    masks = [data[f"{part}_mask"].tolist() for part in ("train", "test", "val")]
    assert masks == torch.eye(3, dtype=torch.bool).tolist()


@pytest.mark.parametrize(
    ("kind", "ends", "weights"),
    [
        (nx.Graph, [[0, 1, 2, 1, 2], [1, 2, 2, 0, 1]], [0.5, 2, 1, 0.5, 2]),
        (nx.DiGraph, [[0, 1, 2], [1, 2, 2]], [0.5, 2, 1]),
        (nx.MultiDiGraph, [[0, 1, 2], [1, 2, 2]], [0.5, 2, 1]),
    ],
)
def test_edges_stand_in_both_directions_unless_they_have_one(kind, ends, weights):
    data = as_pyg(networks.path(kind), "path")
    assert data.edge_index.tolist() == ends
    assert (data.edge_weight.tolist(), data.edge_weight.dtype) == (weights, torch.float32)
    assert data.edge_time.tolist() == [3, 4, 5, 3, 4][: len(weights)]
    assert data.edge_attr[:3].tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("labels", "dtype", "values"),
    [
        ([1, 0, None], torch.int64, [1, 0, -1]),
        ([True, False, True], torch.int64, [1, 0, 1]),
        ([0.5, 2, None], torch.float32, [0.5, 2, -7]),
        ([[1, 0], None, [0, 1]], torch.float32, [[1, 0], [-7, -7], [0, 1]]),
    ],
)
def test_a_node_may_lack_a_label(labels, dtype, values):
    y = as_pyg(networks.path(y=labels), "path").y
    assert (y.dtype, y.nan_to_num(-7).tolist()) == (dtype, values)


def test_many_graphs_have_labels_and_a_split_of_their_own():
    source = load_source(asked("rings"))
    assert source.level == "graph"
    assert source.y.tolist() == [int(3 + n % 5 > 4) for n in range(30)]
    assert source.data.x.unique().tolist() == [2]
    split = split_task(asked("rings"), source).split
    assert split.test.nonzero().flatten().tolist() == list(range(2, 30, 3))


def test_a_networkx_graph_is_a_task():
    source = load_source(asked("club"))
    assert (source.level, source.dim_in, source.dim_out) == ("node", 2, 2)


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        (
            "hetero",
            "gives a HeteroData, and typed graphs are not taken: to_homogeneous() makes a Data",
        ),
        ("empty", "gives a NetworkX graph without nodes"),
        ("mixed", "gives a Graph, neither a PyG Data nor many of them"),
        ("width", "gives node 'b' x of shape [2], and node 'a' of [1]"),
        ("lacks", "gives node 'b' no x, and others have some"),
        ("word", "gives node 'b' x='blue', no number or list of numbers"),
        ("names", "gives labels that are text ('red'), and others that are not"),
        ("split", "gives node 'a' split='trian'; choices: train, val, test; did you mean train?"),
        ("bare", "has no x: data.transform=[constant] adds some"),
        ("nan", "has x with nan or infinity"),
        ("unlabelled", "has no y"),
    ],
)
def test_what_is_no_dataset_is_one_line_that_names_the_function(what, problem):
    with pytest.raises(ConfigError) as caught:
        load_source(asked("odd", what=what))
    assert str(caught.value) == f"dataset=tests.graph.networks:odd(what={what}): {problem}"


def test_what_is_no_networkx_graph_is_left_alone():
    for found in ([], 3, [1, 2], None):
        assert as_pyg(found, "x") is found
