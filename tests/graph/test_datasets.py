import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from torch_geometric.utils import contains_isolated_nodes, is_undirected

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph import files
from gymspace.graph.datasets import digits, pyg
from gymspace.schema import Component
from gymspace.spec import parse
from gymspace.tables import DATASETS
from tests.graph import many, planetoid

OF_PYG = [name for name, row in DATASETS.items() if row.target == DATASETS["pyg"].target]
CONF = Path(__file__).parents[2] / "conf" / "dataset"


def load(root, cache, name, **args):
    component = Component.model_validate({"name": name, **args})
    return registry.build("dataset", component, root=Path(root), cache=Path(cache))


class ReachedError(Exception):
    """Ends a load where it would download."""


def reach(*found):
    raise ReachedError(*found)


def test_digits_has_the_images_and_links_them_both_ways():
    data = digits()
    assert data.x.shape == (1797, 64)
    assert (data.x.min(), data.x.max()) == (0, 1)
    assert data.y.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert is_undirected(data.edge_index)
    assert not data.has_self_loops()


def test_digits_links_each_image_with_its_nearest():
    data = digits(k=3)
    row, col = data.edge_index
    far = torch.cdist(data.x.double(), data.x.double()).fill_diagonal_(torch.inf)
    third = far.sort(dim=1).values[:, 2]
    assert (row.bincount() >= 3).all()
    assert (far[row, col] <= torch.maximum(third[row], third[col]) + 1e-9).all()


def test_digits_is_byte_for_byte_the_same_in_another_process():
    code = (
        "import sys; from gymspace.graph.datasets import digits; d = digits();"
        "sys.stdout.buffer.write(b''.join(t.numpy().tobytes() for t in (d.x, d.edge_index, d.y)))"
    )
    there = subprocess.check_output([sys.executable, "-c", code])
    here = digits()
    assert there == b"".join(t.numpy().tobytes() for t in (here.x, here.edge_index, here.y))


@pytest.mark.parametrize("k", [0, 1797, 2.5, True, "10"])
def test_digits_takes_a_possible_k_only(k):
    with pytest.raises(ConfigError, match=r"dataset\.k=.* whole number from 1 to 1796"):
        digits(k=k)


def test_cora_loads_with_its_own_masks(cora_root, tmp_path):
    data = load(cora_root, tmp_path, "cora")
    assert data.x.size(0) == data.y.size(0) == data.train_mask.size(0)
    assert data.val_mask.sum() == 500
    assert is_undirected(data.edge_index)


def test_isolated_nodes_self_loops_and_repeated_edges_load(stand_in, tmp_path):
    """Field case E4: PyG drops loops and repeats, and the isolated node stays a node."""
    data = load(stand_in, tmp_path, "cora")
    assert data.x.size(0) == planetoid.NODES
    assert contains_isolated_nodes(data.edge_index, data.x.size(0))
    assert not data.has_self_loops()
    assert data.edge_index.unique(dim=1).size(1) == data.edge_index.size(1)


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes"),
    [
        ("cora", 2708, 10556, 1433, 7),
        ("citeseer", 3327, 9104, 3703, 6),
        ("pubmed", 19717, 88648, 500, 3),
        ("amazon_photo", 7650, 238162, 745, 8),
        ("amazon_computers", 13752, 491722, 767, 10),
        ("coauthor_physics", 34493, 495924, 8415, 5),
        ("cora_ml", 2995, 16316, 2879, 7),
        ("minesweeper", 10000, 78804, 7, 2),
    ],
)
def test_real_graphs_have_their_published_sizes(
    shared_data, scratch, name, nodes, edges, features, classes
):
    data = load(shared_data, scratch, name)
    assert tuple(data.x.shape) == (nodes, features)
    assert data.edge_index.size(1) == edges
    assert data.y.unique().tolist() == list(range(classes))


def test_a_directed_graph_loads(shared_data, tmp_path):
    """Field case E4: the class's own argument keeps the direction of the edges."""
    data = load(shared_data, tmp_path, "cora_ml", to_undirected=False)
    assert not is_undirected(data.edge_index)


def test_pyg_classes_without_files_load_and_need_no_cache(tmp_path):
    data = load(tmp_path / "root", tmp_path / "cache", "pyg", cls="KarateClub")
    assert data.x.size(0) == 34
    assert list(tmp_path.iterdir()) == []


def test_classes_that_draw_draw_the_same_and_leave_the_global_generators_alone(stand_in, tmp_path):
    before = torch.get_rng_state()
    first = load(stand_in, tmp_path / "1", "cora", split="random", num_train_per_class=2, num_val=9)
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(5)
    again = load(stand_in, tmp_path / "2", "cora", split="random", num_train_per_class=2, num_val=9)
    assert first.train_mask.sum() == 2 * planetoid.CLASSES
    assert torch.equal(first.train_mask, again.train_mask)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"cls": "Planetoyd", "subset": "Cora"}, "did you mean Planetoid?"),
        ({"cls": "Planetoid"}, "dataset.subset: Planetoid needs a subset"),
        ({"cls": "KarateClub", "subset": "Cora"}, "dataset.subset=Cora: KarateClub has no subsets"),
        ({"cls": "Planetoid", "subset": "Cora", "splitt": "full"}, "did you mean split?"),
        ({"cls": "Planetoid", "subset": "Cora", "transform": 1}, "takes no such argument"),
        (
            {"cls": "Planetoid", "subset": "Cora", "split": "half"},
            "Planetoid(name=Cora, split=half)",
        ),
        (
            {"cls": "Planetoid", "subset": "Cora", "folder": "../x"},
            "must be a folder below data.root",
        ),
        ({"cls": "Amazon", "subset": "Foto"}, "PyG refuses Amazon(name=Foto)"),
        ({"cls": "FakeHeteroDataset", "num_graphs": 1}, "no graph with one type of nodes"),
    ],
)
def test_what_pyg_cannot_give_is_one_line(tmp_path, args, says):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "root", tmp_path / "cache", "pyg", **args)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "root").exists()


@pytest.mark.parametrize("name", sorted(set(OF_PYG) - {"pyg"}))
def test_every_name_of_pyg_is_a_class_that_takes_its_arguments(tmp_path, monkeypatch, name):
    """Up to where its raw files, which are not there, would be downloaded."""
    monkeypatch.setattr(files, "_download", reach)
    with pytest.raises(ReachedError) as reached:
        pyg(tmp_path / "root", tmp_path / "cache", **DATASETS[name].preset)
    raw = reached.value.args[1]
    assert raw.missing()
    assert raw.folder.is_relative_to(tmp_path / "root" / DATASETS[name].preset["folder"])


@pytest.mark.parametrize("name", DATASETS)
def test_every_name_has_a_file_that_fits_it(name):
    config = yaml.safe_load((CONF / f"{name}.yaml").read_text())
    config.pop("defaults", None)
    assert config["dataset"]["name"] == name
    assert parse(config).metric.partition("_")[0] in str(config.get("metrics", "accuracy"))


def test_many_graphs_are_processed_once_from_raw_files_that_stay_as_they_are(tmp_path):
    many.write_tu(tmp_path / "raw")
    before = sorted(path for path in (tmp_path / "raw").rglob("*"))
    first = load(tmp_path / "raw", tmp_path / "cache", "mutag")
    (processed,) = (tmp_path / "cache").rglob("data.pt")
    written = processed.stat().st_mtime_ns
    again = load(tmp_path / "raw", tmp_path / "cache", "mutag")
    assert len(first) == len(again) == 30
    assert (first[4].x.shape, first[4].edge_attr.shape) == ((3, 2), (6, 2))
    assert processed.stat().st_mtime_ns == written
    assert sorted(path for path in (tmp_path / "raw").rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "graphs", "nodes", "edges", "features", "classes"),
    [
        ("mutag", 188, 3371, 7442, 7, 2),
        ("enzymes", 600, 19580, 74564, 21, 6),
        ("proteins", 1113, 43471, 162088, 4, 2),
        ("imdb_binary", 1000, 19773, 193062, 0, 2),
    ],
)
def test_real_datasets_of_graphs_have_their_published_sizes(
    shared_data, scratch, name, graphs, nodes, edges, features, classes
):
    dataset = load(shared_data, scratch, name)
    assert (len(dataset), dataset.num_features, dataset.num_classes) == (graphs, features, classes)
    assert sum(data.num_nodes for data in dataset) == nodes
    assert sum(data.num_edges for data in dataset) == edges


@pytest.mark.parametrize(
    ("name", "molecules", "tasks", "missing"), [("tox21", 7823, 12, 0.17), ("clintox", 1480, 2, 0)]
)
def test_real_molecules_have_several_labels(shared_data, scratch, name, molecules, tasks, missing):
    """RDKit's versions differ by a few molecules that they refuse."""
    dataset = load(shared_data, scratch, name)
    assert len(dataset) == pytest.approx(molecules, abs=10)
    assert dataset.y.size(1) == tasks
    assert dataset.y.isnan().float().mean().item() == pytest.approx(missing, abs=0.01)


def test_a_package_that_a_class_needs_is_named(tmp_path, monkeypatch):
    """Field case F4: before the sweep, not after."""
    folder = tmp_path / "raw" / "moleculenet" / "esol" / "raw"
    folder.mkdir(parents=True)
    (folder / "delaney-processed.csv").write_text("a,smiles\nx,1,-0.77,C\n")
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "raw", tmp_path / "cache", "esol")
    assert str(caught.value) == (
        "dataset: needs the package rdkit, which is not installed (pip install rdkit)"
    )


def test_a_function_of_the_users_is_a_dataset(tmp_path):
    data = load(tmp_path, tmp_path, "experiments.datasets:ring", nodes=12, arcs=3)
    assert data.y.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert data.edge_index.size(1) == 24
    with pytest.raises(ConfigError, match=r"takes no such argument.*did you mean nodes\?"):
        load(tmp_path, tmp_path, "experiments.datasets:ring", node=12)
