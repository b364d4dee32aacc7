"""Many graphs held as one, and cut out again."""

import pytest
import torch
from torch_geometric.data import Batch

from gymspace.errors import ConfigError
from gymspace.graph.collate import collate, take
from gymspace.graph.task import load_source, split_task
from gymspace.spec import parse
from tests.graph import many

HERE = "tests.graph.many"


def spec(name, **more):
    dataset = {"name": f"{HERE}:{name}", **more.pop("arguments", {})}
    return parse({"dataset": dataset, "data": {"split": "random", **more}})


def source(name, **more):
    return load_source(spec(name, **more))


def same(graph, expected):
    assert torch.equal(graph.x, expected.x)
    assert torch.equal(graph.links.index, expected.edge_index)
    assert torch.equal(graph.batch, expected.batch)
    for ours, name in ((graph.links.attr, "edge_attr"), (graph.links.weight, "edge_weight")):
        assert (ours is None and name not in expected) or torch.equal(ours, expected[name])


@pytest.mark.parametrize("ids", [[0], [3, 1, 4], [4, 3, 2, 1, 0], [2, 2], list(range(40))])
@pytest.mark.parametrize("attr", [False, True])
def test_graphs_cut_out_are_those_that_pyg_batches(ids, attr):
    """Field cases E1, E4: graphs without edges and of one node among them."""
    made = many.rings(40, attr)
    whole = source("rings", arguments={"attr": attr})
    for data in made:  # PyG drops edge data that the first graph lacks
        if attr and "edge_attr" not in data:
            data.edge_attr, data.edge_weight = torch.empty(0, 2), torch.empty(0)
    cut = take(whole.graph, whole.bounds, torch.tensor(ids))
    same(cut, Batch.from_data_list([made[n] for n in ids]))


def test_encodings_are_cut_out_with_their_nodes():
    whole = source("rings")
    numbers = torch.arange(whole.graph.x.size(0))
    cut = take(whole.graph.with_encodings({"n": numbers}), whole.bounds, torch.tensor([2, 0]))
    starts = whole.bounds.nodes.tolist()
    assert cut.encodings["n"].tolist() == [*range(starts[2], starts[3]), *range(starts[1])]


@pytest.mark.parametrize("name", ["batch", "Stored"])
def test_graphs_come_in_any_form_that_pyg_has(name):
    found, listed = source(name), source("rings", arguments={"graphs": 6})
    assert torch.equal(found.graph.x, listed.graph.x)
    assert torch.equal(found.graph.links.index, listed.graph.links.index)
    assert torch.equal(found.y, listed.y)


def test_a_row_is_a_graph():
    found = source("rings")
    assert (found.level, tuple(found.y.shape), found.dim_in, found.dim_out) == (
        "graph",
        (40,),
        3,
        2,
    )
    assert found.counts == [1 + n * 5 % 7 for n in range(40)]
    split = split_task(spec("rings"), found).split
    assert split.text == "random(train=0.6, val=0.2, seed=0): 24/8/8"


def test_a_row_is_a_node_where_nodes_have_labels():
    found = source("per_node")
    assert (found.level, tuple(found.y.shape), found.counts) == ("node", (9,), [3, 2, 4])
    assert found.rows_of(torch.tensor([2, 0])).tolist() == [5, 6, 7, 8, 0, 1, 2]
    rows = torch.zeros(9, dtype=torch.bool)
    rows[[3, 8]] = True
    assert found.graphs_with(rows).tolist() == [False, True, True]


def test_labels_are_numbers_or_rows():
    assert source("numbers").y.tolist() == [0, 1, 0]
    found = source("rings", arguments={"targets": 2})
    assert (tuple(found.y.shape), found.dim_out, found.y.dtype) == ((40, 2), 2, torch.float32)


def test_graphs_bring_their_own_split():
    asked = spec("masked", split="own")
    split = split_task(asked, load_source(asked)).split
    assert split.train.nonzero().squeeze(1).tolist() == [0, 3, 6]
    assert split.text == "own: 3/3/3"


def test_transforms_are_those_of_each_graph():
    """A feature that is the graph's own size, not that of all."""
    found = source(
        "featureless", transform=["constant", f"{HERE.replace('many', 'test_collate')}:Size"]
    )
    sizes = torch.tensor(found.counts)
    assert found.graph.x[:, 1].tolist() == sizes.repeat_interleave(sizes).tolist()


class Size:
    """A transform of the user's."""

    def __call__(self, data):
        data.x = torch.cat([data.x, torch.full((data.num_nodes, 1), data.num_nodes)], dim=1)
        return data


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("empty", "has no graphs"),
        ("featureless", "has no x: data.transform=[constant] adds some (graph 0)"),
        ("narrow", "has x of width 3, and the first graph of 2 (graph 1)"),
        ("outside", "has edges that end outside its 2 nodes (graph 1)"),
        ("nan", "has x with nan or infinity (graph 2)"),
        ("nodeless", "has no nodes (a graph without x must say its num_nodes) (graph 1)"),
        ("half_attr", "has edges without edge_attr (graph 1), and others have some"),
        ("mixed_attr", "has edge_attr of width [5] (graph 2), and before of [2]"),
        (
            "half_labels",
            "has y of shape [1], not [1] or [1, labels] in all graphs, nor a row for each of its 2 "
            "nodes (graph 1)",
        ),
        (
            "flat_targets",
            "has y of shape [2], not [1] or [1, labels] in all graphs, nor a row for each of its 3 "
            "nodes (graph 0)",
        ),
        ("other", "gives a str, neither a PyG Data nor many of them"),
    ],
)
def test_graphs_that_do_not_fit_together_are_told_with_their_number(name, problem):
    """Field case E1 for the edge features."""
    with pytest.raises(ConfigError) as caught:
        source(name)
    assert str(caught.value) == f"dataset={HERE}:{name}: {problem}"


@pytest.mark.parametrize("field", ["x", "y", "edge_attr", "edge_weight"])
def test_numbers_that_are_none_are_told_with_their_graph(field):
    what = "infinity" if field == "y" else "nan or infinity"
    with pytest.raises(ConfigError, match=rf"has {field} with {what} \(graph 2\)$"):
        source("infinite", arguments={"field": field})


def test_a_transform_that_fails_is_told():
    with pytest.raises(ConfigError, match=r"data.transform=.*degree.*: fails: "):
        source("rings", transform=[{"name": "degree", "max_degree": 0}])


def test_what_only_some_graphs_have_is_left_out():
    graphs = many.three()
    graphs[1]["smiles"] = "CC"
    data, _ = collate(graphs, "toy")
    assert "smiles" not in data
    for graph in graphs:
        graph["smiles"] = "CC"
    assert collate(graphs, "toy")[0]["smiles"] == ["CC"] * 3


def test_what_nobody_uses_may_differ_in_width():
    data, _ = collate(many.two_widths(), "toy")
    assert "fingerprint" not in data
