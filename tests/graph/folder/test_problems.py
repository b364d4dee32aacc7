"""Every fault of a folder is a line of its own, with the file and where in it."""

import numpy as np
import pandas as pd
import pytest

from gymspace.graph.folder import reading
from gymspace.graph.folder.dataset import read_folder
from tests.graph.folder.tables import texts, write

NODES = "id,age,y\nann,31,cat\nbob,42,dog\ncy,27,\n"
EDGES = "source,target\nann,bob\ncy,bob\n"
MANY = "graph,id,x\na,0,1\nb,1,1\n"


def problems(path, **args):
    return [str(problem) for problem in read_folder(str(path), **args).problems]


@pytest.mark.parametrize(
    ("nodes", "line"),
    [
        ("", "nodes.csv: is empty"),
        ("id,age,y\n", "nodes.csv: has no rows"),
        (NODES + "dee,5\n", "nodes.csv line 5: has 2 cells, and the header 3"),
        (
            'id,age,y\nann,"31,cat\nbob,42,dog\ncy,27,\n',
            "nodes.csv line 2: has 2 cells, and the header 3: is a quote left open?",
        ),
        (NODES + "\n\ndee,x,cat\n", "nodes.csv line 7: 'age' is 'x', not a finite number"),
        (NODES + "dee,inf,cat\n", "nodes.csv line 5: 'age' is 'inf', not a finite number"),
        (NODES + "dee,,cat\n", "nodes.csv line 5: 'age' is empty, not a finite number"),
        (NODES + "ann,1,cat\n", "nodes.csv line 5: id 'ann' has a row already"),
        (NODES + ",1,cat\n", "nodes.csv line 5: 'id' is empty"),
        (
            NODES + "dee,1,3\n",
            "nodes.csv line 5: 'y' is '3', no name of a class, as the others are",
        ),
        (
            "id,y\nann,0\nbob,1\ncy,x\n",
            "nodes.csv line 4: 'y' is 'x', neither a class id nor a number, as the others are",
        ),
        (
            "id,y\nann,-1\nbob,1\ncy,0\n",
            "nodes.csv line 2: 'y' is '-1', no class id: leave the cell empty where there is no "
            "label",
        ),
        (
            "id,y\nann,0\nbob,1\ncy,3\n",
            "nodes.csv: 'y' has class ids from 0 to 3 without 2: number them from 0 on; numbers to "
            "predict are dataset.task=regression",
        ),
        (
            "id,y\nann,\nbob,\ncy,\n",
            "nodes.csv: 'y' is empty in every row: there is nothing to learn",
        ),
        ("id,y\nann,1.5\nbob,inf\ncy,2\n", "nodes.csv line 3: 'y' is 'inf', not a number"),
        (
            "id,split,y\nann,trian,0\nbob,val,1\ncy,test,0\n",
            "nodes.csv line 2: 'split' is 'trian', not train, val, test or empty; did you mean "
            "train?",
        ),
        (
            "id,train_mask,val_mask,test_mask,y\nann,1,1,0,0\nbob,0,0,1,1\ncy,0,0,0,1\n",
            "nodes.csv line 2: is in two splits, 'train_mask' and 'val_mask'",
        ),
        (
            "id,train_mask,val_mask,test_mask,y\nann,2,1,0,0\nbob,0,0,1,1\ncy,0,0,0,1\n",
            "nodes.csv line 2: 'train_mask' is '2', neither true nor false (1 or 0)",
        ),
        (
            "Id,age,y\nann,31,0\nbob,42,1\ncy,27,0\n",
            "nodes.csv: has column 'Id': did you mean 'id'? If it is a feature, give it another "
            "name",
        ),
        ("id;age\nann;3\n", "nodes.csv: has columns apart by ';': write them apart by commas"),
        (
            ",id,y\n0,ann,0\n1,bob,1\n2,cy,0\n",
            "nodes.csv: has a column without a name, as pandas writes an index: index=False",
        ),
        (
            "Unnamed: 0,id,y\n0,ann,0\n1,bob,1\n2,cy,0\n",
            "nodes.csv: has a column without a name, as pandas writes an index: index=False",
        ),
        ("id,x,x,y\nann,1,2,0\n", "nodes.csv: has column 'x' twice"),
        (
            "id,title,y\nann,a,0\nbob,b,1\ncy,c,0\n",
            "nodes.csv line 2: 'title' is text, and a feature is a number: encode it (one column "
            "for each value, as pandas.get_dummies does), or dataset.skip=[title]",
        ),
        (
            "id,y,label\nann,0,0\nbob,1,1\ncy,0,0\n",
            "nodes.csv: has both 'y' and 'label': dataset.label says which is to be learnt",
        ),
        ("id,split\nann,val\nbob,\ncy,\n", "nodes.csv: has 'split', and there are no labels"),
    ],
)
def test_a_fault_of_the_nodes(tmp_path, nodes, line):
    assert problems(texts(tmp_path, nodes=nodes, edges=EDGES)) == [line]


@pytest.mark.parametrize(
    ("edges", "line"),
    [
        ("", "edges.csv: is empty"),
        (
            "source,targt,x\nann,bob,1\n",
            "edges.csv: has no column 'target', but 'targt', 'x'; did you mean 'targt'?",
        ),
        (
            "source,dst\nann,bob\n",
            "edges.csv: has no column 'target', but 'dst'; did you mean 'dst'?",
        ),
        (EDGES + "ann,n9\n", "edges.csv line 4: target 'n9' is in no row of nodes.csv"),
        (EDGES + ",ann\n", "edges.csv line 4: 'source' is empty"),
        (EDGES + "ann,bob,cy\n", "edges.csv line 4: has 3 cells, and the header 2"),
        (
            "source,target,weight\nann,bob,heavy\n",
            "edges.csv line 2: 'weight' is 'heavy', not a finite number",
        ),
        (
            "source,target,y\nann,bob,0\n",
            "edges: has labels in two files, 'y' of nodes.csv and 'y' of edges.csv: dataset.skip "
            "leaves one out",
        ),
    ],
)
def test_a_fault_of_the_edges(tmp_path, edges, line):
    assert problems(texts(tmp_path / "edges", nodes=NODES, edges=edges)) == [line]


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"graphs": "graph,y\na,0\n"}, "nodes.csv line 3: graph 'b' is in no row of graphs.csv"),
        ({"graphs": "graph,y\na,0\nb,1\nc,1\n"}, "graphs.csv line 4: graph 'c' has no nodes"),
        ({"graphs": "graph,y\na,0\nb,1\nb,1\n"}, "graphs.csv line 4: graph 'b' has a row already"),
        ({"graphs": "name,y\na,0\n"}, "graphs.csv: has no column 'graph', but 'name', 'y'"),
        (
            {"edges": "source,target\n0,1\n"},
            "edges.csv line 2: leads from '0' in the graph 'a' to '1' in the graph 'b'",
        ),
        ({"nodes": MANY + "a,1,2\n"}, "nodes.csv line 4: id '1' has a row already"),
        (
            {"edges": "source,target,graph\n0,0,a\n1,1,a\n"},
            [
                "edges.csv line 3: source '1' is in no row of nodes.csv with this graph",
                "edges.csv line 3: target '1' is in no row of nodes.csv with this graph",
            ],
        ),
        (
            {"nodes": "x\n1\n", "graphs": "graph,y\na,0\n"},
            "nodes.csv: has no column 'graph', and another file has",
        ),
        (
            {"edges": "source,target,y\n0,0,1\n1,1,0\n"},
            "edges.csv: has labels: those of edges are learnt on a single graph",
        ),
    ],
)
def test_a_fault_of_many_graphs(tmp_path, files, line):
    given = {"nodes": MANY, "edges": "source,target\n0,0\n", **files}
    assert problems(texts(tmp_path, **given)) == ([line] if isinstance(line, str) else line)


def test_all_problems_are_told_in_the_order_of_their_lines(tmp_path):
    nodes = 'id,age,y\n"a\nb",x,cat\n\nann,1\nbob,nan,dog\r\ncy,2,cat,5\ncy,,cat\n'
    found = problems(texts(tmp_path, nodes=nodes, edges="source,target\nann,cy\n"))
    assert [line.partition(":")[0] for line in found] == [
        "nodes.csv line 2",
        "nodes.csv line 5",
        "nodes.csv line 6",
        "nodes.csv line 7",
        "nodes.csv line 8",
        "edges.csv line 2",
    ]


def test_a_line_is_right_behind_the_first_block(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 64)
    rows = [f"{n},{n / 8}" for n in range(200)]
    rows[170], rows[190] = "170,x", "190"
    path = texts(tmp_path, nodes="\n".join(["id,x", *rows]), edges="source,target\n3,190\n")
    assert problems(path) == [
        "nodes.csv line 172: 'x' is 'x', not a finite number",
        "nodes.csv line 192: has 1 cells, and the header 2",
        "edges.csv line 2: target '190' is in no row of nodes.csv",
    ]


def test_rows_of_parquet_are_counted_as_pandas_does(tmp_path):
    nodes = pd.DataFrame({"id": ["a", "b", "b"], "x": [1.0, np.nan, 3]})
    edges = pd.DataFrame({"source": ["a"], "target": ["z"]})
    assert problems(write(tmp_path, ".parquet", nodes=nodes, edges=edges)) == [
        "nodes.parquet row 1: 'x' is empty, not a finite number",
        "nodes.parquet row 2: id 'b' has a row already",
        "edges.parquet row 0: target 'z' is in no row of nodes.parquet",
    ]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("nodes.parquet", b"PAR1 cut off", "nodes.parquet: cannot be read: "),
        ("nodes.csv", b"id,y\nann,caf\xe9\n", "nodes.csv: is not in UTF-8 (line 2)"),
        ("node.csv", b"id\nann\n", "node.csv: is not read: did you mean nodes.csv or nodes.parq"),
        ("edges.parquet", b"", "edges.csv: stands beside edges.parquet: leave one of them out"),
        ("features.npy", b"", "features.npy: cannot be read: "),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path, name, content, says):
    texts(tmp_path, edges=EDGES)
    (tmp_path / name).write_bytes(content)
    (line,) = problems(tmp_path)
    assert line.startswith(says)
    assert "\n" not in line


def test_features_that_do_not_fit_the_nodes_are_told(tmp_path):
    np.save(tmp_path / "features.npy", np.array([[1.0], [np.inf]]))
    assert problems(texts(tmp_path, nodes=NODES, edges=EDGES)) == [
        "features.npy: has 2 rows, and nodes.csv 3",
        "features.npy: stands beside features in nodes.csv ('age'): skip one",
        "features.npy row 1: holds nan or infinity",
    ]


def test_a_folder_without_edges_says_what_is_there(tmp_path):
    (tmp_path / "links.csv").write_text("a,b\n")
    (line,) = problems(tmp_path)
    assert line == f"{tmp_path.name}: has no edges.csv or edges.parquet, but links.csv"


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"label": "agee"}, "no file has a column 'agee' (dataset.label); did you mean age?"),
        ({"skip": "agee"}, "no file has a column 'agee' (dataset.skip); did you mean age?"),
    ],
)
def test_a_column_that_is_in_no_file_is_told(tmp_path, args, line):
    nodes = "id,age\nann,31\nbob,42\ncy,27\n"
    found = problems(texts(tmp_path, nodes=nodes, edges=EDGES), **args)
    assert found == [f"{tmp_path.name}: {line}"]


def test_another_label_is_no_feature_unless_it_is_said(tmp_path):
    nodes = "id,age,y\nann,31,0\nbob,42,1\ncy,27,0\n"
    found = problems(texts(tmp_path, nodes=nodes, edges=EDGES), label="age", task="regression")
    assert found == [
        "nodes.csv: has 'y', which is named like a label: dataset.skip=[y], or another name"
    ]


def test_many_problems_are_counted_not_kept(tmp_path):
    rows = "\n".join(f"ann,n{n}" for n in range(5000))
    found = read_folder(
        str(texts(tmp_path, nodes=NODES, edges=f"source,target\n{rows}\n"))
    ).problems
    assert (len(found), len(list(found))) == (5000, 1000)
