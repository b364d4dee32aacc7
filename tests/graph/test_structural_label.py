"""Labels measured on any graphs, one or many."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.utils import to_networkx

from gymspace.errors import ConfigError
from gymspace.graph.datasets import digits
from gymspace.graph.generated import equal_frequency
from gymspace.graph.structural_label import StructuralLabel
from gymspace.graph.task import load_source, split_task
from gymspace.spec import parse
from tests.graph import many
from tests.training.trials import run

NODES = {"clustering": nx.clustering, "degree": lambda graph: dict(graph.degree())}
NODES |= {"pagerank": lambda graph: nx.pagerank(graph, tol=1e-12, max_iter=1000)}


def path_lengths(graph):
    found = {n: dict(by) for n, by in nx.all_pairs_shortest_path_length(graph)}
    return {n: sum(by.values()) / max(len(by) - 1, 1) for n, by in found.items()}


def sources(root, **label):
    """The source and the task of a TU dataset with such labels."""
    data = {"root": str(root), "cache": str(root / "cache"), "split": "random"}
    data["transform"] = [{"name": "structural_label", **label}]
    spec = parse({"dataset": {"name": "mutag"}, "data": data})
    source = load_source(spec)
    return source, split_task(spec, source)


@pytest.mark.parametrize("of", [*NODES, "path_length"])
def test_nodes_are_measured_as_networkx_does(of):
    data = digits(k=4)
    graph = to_networkx(data, to_undirected=True)
    by_node = (path_lengths if of == "path_length" else NODES[of])(graph)
    expected = np.array([by_node[node] for node in range(data.num_nodes)])
    scale = data.num_nodes if of == "pagerank" else 1
    numbers = StructuralLabel(of, bins=None)(data).y
    assert numbers.numpy() == pytest.approx(expected * scale, rel=1e-5)
    classes = StructuralLabel(of, bins=5)(data).y
    assert classes.tolist() == equal_frequency(expected * scale, 5).tolist()
    assert torch.equal(data.y, digits(k=4).y)


def test_a_path_has_its_own_lengths_and_one_in_two_parts_too():
    """Field case E4: isolated nodes, self loops, repeated and one-way edges."""
    ends = torch.tensor([[0, 1, 1, 3, 0], [1, 2, 2, 3, 1]])
    data = many.graph(5, edge_index=ends)
    label = StructuralLabel("path_length", bins=None, level="node")
    assert label(data).y.tolist() == [1.5, 1.0, 1.5, 0.0, 0.0]
    assert StructuralLabel("degree", bins=None)(data).y.tolist() == [1, 2, 1, 0, 0]


@pytest.mark.parametrize(("level", "rows"), [(None, 30), ("graph", 30), ("node", 133)])
def test_rows_of_all_graphs_share_their_classes(tmp_path, level, rows):
    many.write_tu(tmp_path)
    source, task = sources(tmp_path, of="path_length", bins=3, level=level)
    assert (source.level, len(source.y)) == ("node" if level == "node" else "graph", rows)
    sizes = torch.tensor(source.counts)  # a ring of n nodes: the longer, the longer its paths
    size_of_row = sizes.repeat_interleave(sizes) if level == "node" else sizes
    order = size_of_row.argsort(stable=True)
    assert (source.y[order].diff() >= 0).all()
    assert source.y.unique().tolist() == list(range(source.dim_out))
    assert int(task.split.train.sum()) == round(0.6 * rows)


def test_a_split_of_other_rows_goes_with_the_labels_before():
    graphs = StructuralLabel("path_length", bins=2).of_all(many.of_nodes())
    assert not any("train_mask" in graph for graph in graphs if graph.num_nodes > 1)
    kept = StructuralLabel("degree", bins=None, level="node").of_all(many.of_nodes())
    assert all("train_mask" in graph for graph in kept)


def test_structure_is_learnt_from_nothing_but_structure(tmp_path):
    transform = [{"name": "structural_label", "of": "degree", "bins": 3}]
    transform.append({"name": "constant", "cat": False})
    keys = {"dataset": "digits", "data.split": "random", "data.transform": transform}
    keys |= {"model.agg": "add", "model.layers_pre_mp": 0, "model.l2norm": "none"}
    result = run(tmp_path / "trial", {**keys, "model.layers_mp": 1, "train.epochs": 60})
    assert result["test_accuracy"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"of": "clusterin"}, "data.transform.of=clusterin: unknown measure; choices: clustering"),
        (
            {"level": "edge"},
            "data.transform.level=edge: labels can be those of nodes or graphs; choices: ",
        ),
        ({"of": "pagerank", "level": "graph"}, "data.transform.of=pagerank: unknown measure"),
        ({"bins": 1}, "data.transform.bins=1: must be a whole number of 2 or more"),
        ({"level": "graph"}, "data.transform.of=clustering: gives all graphs the same class"),
    ],
)
def test_what_cannot_be_is_told(arguments, line):
    with pytest.raises(ConfigError) as caught:
        StructuralLabel(**arguments)(digits())
    assert str(caught.value).startswith(line)
