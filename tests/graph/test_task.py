"""From a spec to a graph, its labels and its split."""

import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Sparse
from gymspace.graph.checks import check_classes
from gymspace.graph.task import load_source, source_spec, split_task
from gymspace.spec import parse, replace
from tests.graph import toys

SPLIT = {"name": "random", "train": 0.34, "val": 0.33}


def toy(**arguments):
    return spec(dataset={"name": "tests.graph.toys:dataset", **arguments})


def spec(**config):
    return parse({"data": {"split": SPLIT}, **config})


def fault(asked):
    with pytest.raises(ConfigError) as caught:
        load_source(asked)
    return str(caught.value)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_features_and_edge_data_come_in_the_precision(precision):
    asked = parse({**toy(edge_data=True).model_dump(mode="json"), "precision": precision})
    source = load_source(asked)
    dtype = getattr(torch, precision)
    links = source.graph.links
    assert [t.dtype for t in (source.graph.x, links.attr, links.weight)] == [dtype] * 3
    assert source.y.dtype == torch.int64
    assert source.graph.adj("gcn").weight.dtype == dtype


def test_edge_data_that_is_not_there_is_none():
    links = load_source(toy()).graph.links
    assert (links.attr, links.weight) == (None, None)


@pytest.mark.parametrize("zeros", [True, False])
def test_features_that_are_mostly_zero_are_held_sparse_as_well(zeros):
    (store,) = load_source(toy(zeros=zeros)).graph.nodes.values()
    assert isinstance(store.features, Sparse) == zeros


@pytest.mark.parametrize(
    ("arguments", "shape", "dtype", "outputs"),
    [
        ({}, (6,), torch.int64, 2),
        ({"column": True}, (6,), torch.int64, 2),
        ({"targets": 1}, (6,), torch.float32, 1),
        ({"targets": 3}, (6, 3), torch.float32, 3),
    ],
)
def test_labels_and_the_scores_they_need(arguments, shape, dtype, outputs):
    source = load_source(toy(**arguments))
    assert (tuple(source.y.shape), source.y.dtype, source.dim_out) == (shape, dtype, outputs)
    assert source.dim_in == 4


def test_the_split_is_of_seed_and_fold():
    source = load_source(toy())
    one, same, other = [
        split_task(parse({**toy().model_dump(mode="json"), "fold": fold}), source).split
        for fold in (0, 0, 1)
    ]
    assert torch.equal(one.val, same.val)
    assert not torch.equal(one.val, other.val)
    assert one.text == "random(train=0.34, val=0.33, seed=0): 2/2/2"
    assert torch.equal(one.train ^ one.val ^ one.test, torch.ones(6, dtype=torch.bool))


SAME = {"seed": 3, "fold": 1, "data.split": "own", "model.layer": "gcn", "train.epochs": 3}
OTHER = {
    "dataset": "digits",
    "data.transform": ["constant"],
    "data.root": "elsewhere",
    "precision": "float64",
    "device": "cuda",
}


@pytest.mark.parametrize(("key", "value"), [*SAME.items(), *OTHER.items()])
def test_a_graph_is_kept_for_all_trials_that_it_serves(key, value):
    changed = parse(replace(toy().model_dump(mode="json"), key, value))
    assert (source_spec(changed) == source_spec(toy())) == (key in SAME)


def test_transforms_are_applied_in_order():
    three = {"name": "constant", "value": 3}
    config = toy().model_dump(mode="json")
    first = replace(config, "data.transform", [three, "normalize_features"])
    last = replace(config, "data.transform", ["normalize_features", three])
    assert load_source(parse(first)).graph.x.max() <= 1
    assert load_source(parse(last)).graph.x[:, -1].tolist() == [3.0] * 6


def test_features_can_be_added_where_there_are_none():
    """Field case E4: a node without edges after all that have some is a node."""
    config = replace(toy(without="x").model_dump(mode="json"), "data.transform", ["constant"])
    assert load_source(parse(config)).graph.x.tolist() == [[1.0]] * 6


def test_missing_features_are_told_with_a_way_out():
    line = fault(toy(without="x"))
    assert line.startswith("dataset=tests.graph.toys:dataset(without=x): has no x")
    assert "data.transform=[constant] adds some" in line


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (toy(without="y"), "has no y"),
        (toy(without="edge_index"), "has no edge_index"),
        (spec(dataset="tests.graph.toys:flat"), "has x of shape [6], not [nodes, width]"),
        (spec(dataset="tests.graph.toys:labels"), "has y of shape [1] for 6 nodes"),
        (spec(dataset="tests.graph.toys:outside"), "has edges that end outside its 3 nodes"),
        (
            spec(dataset="tests.graph.toys:transposed"),
            "has edge_index of torch.int64 [6, 2], not whole numbers [2, edges]",
        ),
    ],
)
def test_a_dataset_that_is_no_graph_is_told(asked, problem):
    assert fault(asked) == f"dataset={asked.dataset.label}: {problem}"


@pytest.mark.parametrize("edges", toys.INDICES)
def test_awkward_graphs_load(edges):
    """Field case E4: without edges, with isolated nodes, self loops, directed."""
    source = load_source(toy(edges=edges))
    assert torch.equal(source.graph.links.index, toys.INDICES[edges])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("short_weights", "has edge_weight of shape [5] for 6 edges"),
        ("infinite", "has x with nan or infinity"),
        ("masked_edges", "has edge_index of torch.bool [2, 6], not whole numbers [2, edges]"),
        ("no_data", "gives a int, neither a PyG Data nor many of them"),
    ],
)
def test_data_that_would_fail_in_a_trial_is_told_before(name, problem):
    assert fault(spec(dataset=f"tests.graph.toys:{name}")).endswith(problem)


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("column weights", "has edge_weight of shape [6, 1] for 6 edges, not [edges]"),
        ("deep edges", "has edge_attr of shape [6, 1, 2] for 6 edges, not [edges, width]"),
        ("nan edges", "has edge_attr with nan or infinity"),
        ("infinite weights", "has edge_weight with nan or infinity"),
        ("infinite labels", "has y with infinity"),
        ("complex", "has x of torch.complex64, not real numbers"),
        ("no width", "has x of width 0: data.transform=[constant] adds a feature"),
        ("no nodes", "has no nodes (a graph without x must say its num_nodes)"),
        ("words", "has y as a list, not a tensor"),
        ("years", "has class ids up to 20250101 for 6 rows: number them from 0 on"),
    ],
)
def test_numbers_that_nothing_is_learnt_from_are_told(what, problem):
    line = fault(spec(dataset={"name": "tests.graph.toys:odd", "what": what}))
    assert line == f"dataset=tests.graph.toys:odd(what={what}): {problem}"


@pytest.mark.parametrize("name", ["toys", "many"])
def test_a_negative_one_of_several_whole_numbers_is_no_label(name):
    """Field case C3."""
    asked = spec(dataset=f"tests.graph.{name}:several")
    source = load_source(asked)
    given = source.data.y
    assert torch.equal(source.y.isnan(), given < 0)
    assert torch.equal(source.y.nan_to_num(-1), given.float())
    assert source.dim_out == given.size(1)


def test_an_error_of_a_dataset_names_the_dataset_and_the_place():
    line = fault(spec(dataset="tests.graph.toys:raising"))
    start = "dataset=tests.graph.toys:raising: cannot be built: "
    assert line.startswith(f"{start}OSError('the file is gone')")
    assert "toys.py:" in line


def test_an_int32_edge_index_is_taken():
    source = load_source(spec(dataset="tests.graph.toys:narrow_edges"))
    assert source.graph.links.index.dtype == torch.int64


@pytest.mark.parametrize(
    ("y", "line"),
    [
        ([0, 1, -2], "has a class id -2: classes count from 0 on, and -1 says there is no label"),
        ([0, 1, 20_001], "has class ids up to 20001 for 3 rows: number them from 0 on"),
    ],
)
def test_labels_outside_the_range_are_one_line(y, line):
    y = torch.tensor(y)
    with pytest.raises(ConfigError) as caught:
        check_classes(int(y.max()) + 1, y, "mine")
    assert str(caught.value) == f"dataset=mine: {line}"
