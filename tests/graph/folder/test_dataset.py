import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.folder.dataset import folder, read_folder
from gymspace.schema import Component
from tests.graph.folder.tables import many, one, texts, write

NODES = "id,age,y\nann,31,cat\nbob,42,dog\ncy,27,\n"
EDGES = "source,target\nann,bob\ncy,bob\n"


def load(path, **args):
    return registry.build(
        "dataset", Component.model_validate({"name": "folder", **args}), str(path)
    )


def alike(one, other):
    """Whether two graphs, or lists of them, have the same fields with the same values."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    first, second = one.to_dict(), other.to_dict()
    return first.keys() == second.keys() and all(same(v, second[k]) for k, v in first.items())


def same(one, other):
    if not isinstance(one, Tensor):
        return one == other
    return one.dtype == other.dtype and torch.equal(one.nan_to_num(-7), other.nan_to_num(-7))


def test_a_graph_has_the_cells_of_its_tables(tmp_path):
    nodes = "id,age,tall,y,split\nann,31,1.5,dog,train\nbob,42,2,cat,val\n\ncy,27,2.5,,test\n"
    edges = "source,target,weight,kind,time\nann,bob,0.5,3,10\ncy,bob,2,4,20\n"
    data = folder(str(texts(tmp_path, nodes=nodes, edges=edges)))
    assert data.x.tolist() == [[31, 1.5], [42, 2], [27, 2.5]]
    assert (data.y.tolist(), data.classes) == ([1, 0, -1], ("cat", "dog"))
    assert data.edge_index.tolist() == [[0, 2], [1, 1]]
    assert (data.edge_weight.tolist(), data.edge_attr.tolist()) == ([0.5, 2], [[3], [4]])
    assert (data.edge_time.tolist(), data.edge_time.dtype) == ([10, 20], torch.int64)
    masks = [data[f"{part}_mask"].tolist() for part in ("train", "val", "test")]
    assert masks == torch.eye(3, dtype=torch.bool).tolist()


@given(seed=st.integers(0, 10_000), shape=st.sampled_from(["one", "within", "over all"]))
@settings(max_examples=40)
def test_csv_and_parquet_give_the_same_graphs(tmp_path_factory, seed, shape):
    frames = one(seed) if shape == "one" else many(seed, within=shape == "within")
    root = tmp_path_factory.mktemp("graphs")
    first, second = (folder(str(write(root / k[1:], k, **frames))) for k in (".csv", ".parquet"))
    assert alike(first, second)
    assert not (isinstance(first, list) and alike(first, [*second[1:], second[0]]))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_every_cell_arrives_at_its_node(tmp_path_factory, seed):
    frames = one(seed)
    data = folder(str(write(tmp_path_factory.mktemp("graph"), **frames)))
    nodes, edges = frames["nodes"], frames["edges"]
    ids = list(nodes["id"])
    ends = [[ids.index(node) for node in edges[name]] for name in ("source", "target")]
    assert data.edge_index.tolist() == ends
    features = nodes[["age", "size", "tall"]].to_numpy(np.float64).astype(np.float32)
    assert np.array_equal(data.x, features)
    assert np.array_equal(data.edge_time, edges["time"])
    names = [data.classes[label] if label >= 0 else None for label in data.y]
    assert names == [None if pd.isna(y) else y for y in nodes["y"]]


@pytest.mark.parametrize("within", [True, False])
def test_many_graphs_have_their_own_nodes_and_edges(tmp_path, within):
    frames = many(3, within=within)
    graphs = folder(str(write(tmp_path, **frames)))
    nodes, edges = frames["nodes"], frames["edges"]
    owner = dict(zip(nodes["id"], nodes["graph"], strict=True))
    for name, y, split, graph in zip(*frames["graphs"].to_numpy().T, graphs, strict=True):
        own = nodes[nodes["graph"] == name]
        there = edges["graph"] if within else edges["source"].map(owner)
        ends = edges[there == name][["source", "target"]].to_numpy()
        assert own["id"].to_numpy()[graph.edge_index.T].tolist() == ends.tolist()
        assert np.allclose(graph.x[:, 0], own["size"])
        assert graph.y.tolist() == [pytest.approx(y)]
        assert bool(graph[f"{split}_mask"])
        assert graph.train_mask.shape == (1,)


def test_a_split_of_graphs_is_that_of_their_nodes_where_these_have_the_labels(tmp_path):
    nodes = "graph,x1,label\na,1,0\nb,2,1\na,3,1\n"
    edges, graphs = "graph,source,target\na,0,1\n", "graph,split\nb,test\na,train\n"
    second, first = folder(str(texts(tmp_path, nodes=nodes, edges=edges, graphs=graphs)))
    assert (first.y.tolist(), second.y.tolist()) == ([0, 1], [1])
    assert first.edge_index.tolist() == [[0], [1]]
    assert (first.train_mask.tolist(), second.test_mask.tolist()) == ([True, True], [True])


def test_labels_of_edges_are_pairs_to_be_scored(tmp_path):
    edges = "source,target,label,split\na,b,1,train\nb,c,,\nc,a,0,test\n"
    data = folder(str(texts(tmp_path, edges=edges)))
    assert data.edge_index.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert data.edge_label_index.tolist() == [[0, 2], [1, 0]]
    assert (data.edge_label.tolist(), data.test_mask.tolist()) == ([1, 0], [False, True])
    assert (data.num_nodes, data.y) == (3, None)


@pytest.mark.parametrize(
    ("cells", "args", "dtype", "values"),
    [
        ("0,1,", {}, torch.int64, [0, 1, -1]),
        ("1.0,0.0,", {}, torch.int64, [1, 0, -1]),
        ("True,False,True", {}, torch.int64, [1, 0, 1]),
        ("0.5,2,", {}, torch.float32, [0.5, 2, -7]),
        ("3,-1,7", {"task": "regression"}, torch.float32, [3, -1, 7]),
    ],
)
def test_whole_numbers_are_classes_unless_told_otherwise(tmp_path, cells, args, dtype, values):
    rows = "\n".join(f"{n},{cell}" for n, cell in enumerate(cells.split(",")))
    data = load(texts(tmp_path, nodes=f"x,y\n{rows}\n", edges="source,target\n0,1\n"), **args)
    assert data.y.dtype == dtype
    assert data.y.nan_to_num(-7).tolist() == values


def test_several_labels_may_have_gaps(tmp_path):
    nodes = "x,y_a,y_b\n1,0,\n2,1,0\n"
    data = load(texts(tmp_path, nodes=nodes, edges="source,target\n0,1\n"))
    assert data.y.nan_to_num(-7).tolist() == [[0, -7], [1, 0]]


def test_the_user_says_which_columns_are_labels_and_which_are_left_out(tmp_path):
    nodes = "x,title,tox,sol\n1,a word,0,1\n2,another,1,0\n"
    path = texts(tmp_path, nodes=nodes, edges="source,target\n0,1\n")
    data = load(path, label=["tox", "sol"], skip="title")
    assert (data.x.tolist(), data.y.tolist()) == ([[1], [2]], [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("split_0,split_1", ["train,test", "Valid,train", "test,"]),
        ("train_mask,val_mask,test_mask", ["1,0,0", "0,true,False", ",0,1"]),
    ],
)
def test_splits_are_columns_or_masks(tmp_path, columns, rows):
    nodes = "\n".join([f"x,y,{columns}", *(f"{n},{n},{row}" for n, row in enumerate(rows))])
    data = load(texts(tmp_path, nodes=nodes, edges="source,target\n0,1\n"))
    masks = torch.stack([data[f"{part}_mask"] for part in ("train", "val", "test")])
    first = masks if masks.dim() == 2 else masks[..., 0]
    assert first.tolist() == torch.eye(3, dtype=torch.bool).tolist()
    if masks.dim() == 3:
        assert masks[..., 1].nonzero().tolist() == [[0, 1], [2, 0]]


def test_features_beside_the_tables_are_mapped_not_read(tmp_path):
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.save(tmp_path / "features.npy", x)
    found = read_folder(str(texts(tmp_path, edges="source,target\n3,0\n")))
    assert isinstance(found.sheets.features, np.memmap)
    assert found.whole.data.x.data_ptr() == found.sheets.features.ctypes.data
    assert found.whole.data.x.tolist() == x.tolist()
    assert found.whole.data.edge_index.tolist() == [[3], [0]]


def test_ids_of_parquet_are_the_same_as_whole_numbers_and_as_text(tmp_path):
    frames = {
        "nodes": pd.DataFrame({"id": ["7", "8"], "y": [0, 1]}),
        "edges": pd.DataFrame({"source": [7, 8], "target": [8.0, 7.0]}),
    }
    assert load(write(tmp_path, ".parquet", **frames)).edge_index.tolist() == [[0, 1], [1, 0]]


def test_the_first_problem_is_told_with_the_number_of_the_others(tmp_path):
    edges = "source,target\nann,bob\ncy,dee\n,\n"
    with pytest.raises(ConfigError) as caught:
        load(texts(tmp_path, nodes=NODES, edges=edges))
    line = f"dataset.path={tmp_path}: edges.csv line 3: target 'dee' is in no row of nodes.csv"
    assert str(caught.value) == f"{line} (and 2 more: python -m gymspace.graph.folder {tmp_path})"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"path": "nowhere"}, "dataset.path=nowhere: there is no such folder"),
        ({"task": "ranking"}, "dataset.task=ranking: unknown choice; choices: classification,"),
        ({"skipp": "x"}, "did you mean skip?"),
    ],
)
def test_what_cannot_be_asked_is_one_line(tmp_path, args, says):
    path = texts(tmp_path, nodes=NODES, edges=EDGES)
    component = Component.model_validate({"name": "folder", "path": str(path), **args})
    with pytest.raises(ConfigError, match=says.replace("?", r"\?")):
        registry.build("dataset", component)
