import shlex

import numpy as np
import pytest

from gymspace.graph.folder.__main__ import main
from tests.graph.folder.tables import many, texts, write

NODES = "id,age,y,split\nann,31,cat,train\nbob,42,dog,val\ncy,27,,test\n"
EDGES = "source,target,weight\nann,bob,1\nbob,ann,1\nbob,bob,2\nbob,bob,2\n"


def test_a_sound_folder_is_described_with_the_command_that_trains_on_it(tmp_path, capsys):
    path = texts(tmp_path, nodes=NODES, edges=EDGES)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(path),
        "  nodes.csv      3 rows: id; label y; split split; features age",
        "  edges.csv      4 rows: source, target, weight",
        "  graph          3 nodes, 1 of them without an edge",
        "  edges          4, undirected (each stands in both directions); 2 self loops, 1 repeated",
        "  features       1 of nodes, weights of edges",
        "  labels         of nodes: 2 classes (0 cat: 1, 1 dog: 1), 1 without",
        "  split          train 1, val 1, test 1, neither 0",
        "no problems; to train on it:",
        f"python -m gymspace dataset=folder dataset.path={path}",
    ]


def test_many_graphs_are_described(tmp_path, capsys):
    frames = many(1)
    assert main([str(write(tmp_path, **frames))]) == 0
    out, sizes = capsys.readouterr().out, frames["nodes"]["graph"].value_counts()
    assert f"4 with {sizes.min()} to {sizes.max()} nodes; {sizes.sum()} nodes, " in out
    assert "directed (" in out
    assert out.endswith("loader=batches model.head=graph loss=mse metrics=[mae] metric=mae\n")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"nodes": "x,y\n1,0\n2,1\n"}, "data.split=random"),
        ({"nodes": "y_a,y_b\n1,0\n,1\n"}, "loss=bce metrics=[auc] metric=auc"),
        ({"nodes": "y\n1\n0\n"}, "data.transform=[constant]"),
    ],
)
def test_the_command_fits_what_is_in_the_folder(tmp_path, capsys, files, words):
    assert main([str(texts(tmp_path, edges="source,target\n0,1\n", **files))]) == 0
    assert words in capsys.readouterr().out.splitlines()[-1]


def test_problems_end_with_2_and_are_listed_up_to_a_number(tmp_path, capsys):
    path = texts(tmp_path, nodes=NODES, edges=EDGES + "ann,x,1\nann,y,1\nann,z,1\n")
    assert main([str(path), "--most", "2"]) == 2
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "3 problems:",
        "edges.csv line 6: target 'x' is in no row of nodes.csv",
        "edges.csv line 7: target 'y' is in no row of nodes.csv",
        "... and 1 more (--most 3)",
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nowhere", "dataset.path=nowhere: there is no such folder"),
        ("", "the following arguments are required: folder; see --help"),
        (". --task x", "dataset.task=x: unknown choice"),
        (". --most x", "gymspace.graph.folder: argument --most: invalid int value: 'x'"),
    ],
)
def test_a_mistake_is_one_line(words, says, capsys):
    assert main(shlex.split(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


def test_features_beside_the_tables_are_described(tmp_path, capsys):
    np.save(tmp_path / "features.npy", np.ones((3, 2)))
    assert main([str(texts(tmp_path, edges="source,target\n0,1\n"))]) == 0
    out = capsys.readouterr().out
    assert "  features.npy   3 rows, 2 features of nodes\n" in out
    assert "  labels         none\n" in out
