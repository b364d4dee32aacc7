"""Datasets whose class gives one part of its split at a time."""

from pathlib import Path

import pytest
import torch
from torch_geometric.datasets import ZINC

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.task import load_source, split_task
from gymspace.schema import Component
from gymspace.spec import parse
from tests.graph import raw


def load(root, cache, name, **args):
    component = Component.model_validate({"name": name, **args})
    return registry.build("dataset", component, root=Path(root), cache=Path(cache))


@pytest.mark.parametrize("name", raw.PARTED)
def test_each_graph_has_the_masks_of_its_part(tmp_path, name):
    """Masks have a row for each label: one of the graph, or those of its nodes."""
    raw.PARTED[name](tmp_path)
    graphs = load(tmp_path, tmp_path / "cache", name)
    left_out = name == "zinc"  # by the index of the subset
    parts = [part for part, n in raw.COUNTS.items() for _ in range(n - left_out)]
    assert len(graphs) == len(parts)
    for graph, part in zip(graphs, parts, strict=True):
        rows = graph.num_nodes if name in ("ppi", "pascalvoc_sp") else 1
        for each in raw.COUNTS:
            assert graph[f"{each}_mask"].tolist() == [each == part] * rows


@pytest.mark.parametrize("name", ["zinc", "peptides_func", "mnist", "malnet_tiny"])
def test_the_split_is_the_datasets_own(tmp_path, name):
    raw.PARTED[name](tmp_path)
    data = {"root": str(tmp_path), "cache": str(tmp_path / "cache"), "split": "own"}
    transform = ["degree_profile"] if name == "malnet_tiny" else []
    spec = parse({"dataset": {"name": name}, "data": {**data, "transform": transform}})
    source = load_source(spec)
    assert source.level == "graph"
    task = split_task(spec, source)
    sizes = [n - (name == "zinc") for n in raw.COUNTS.values()]
    assert task.split.text == f"own: {'/'.join(map(str, sizes))}"


def test_all_parts_are_processed_at_once(tmp_path, monkeypatch):
    raw.zinc(tmp_path)
    calls, process = [], ZINC.process
    monkeypatch.setattr(ZINC, "process", lambda self: calls.append(1) or process(self))
    load(tmp_path, tmp_path / "cache", "zinc")
    load(tmp_path, tmp_path / "cache", "zinc")
    assert len(calls) == 1
    assert len(load(tmp_path, tmp_path / "cache", "zinc", subset=False)) == 11
    assert len(calls) == 2


def test_one_part_alone_has_no_masks(tmp_path):
    raw.mnist(tmp_path)
    graphs = load(tmp_path, tmp_path / "cache", "mnist", parts=None, split="val")
    assert (len(graphs), "val_mask" in graphs[0]) == (3, False)
    assert torch.cat([graph.y for graph in graphs]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            {"name": "zinc", "split": "val"},
            "dataset.split=val: ZINC gives all its parts; dataset.parts=null takes this one alone",
        ),
        (
            {"name": "pyg", "cls": "ZINC", "parts": "splitt"},
            "dataset.parts=splitt: ZINC takes no such argument; choices: split; did you mean",
        ),
        (
            {"name": "pyg", "cls": "ZINC", "split": "dev"},
            "dataset: PyG refuses ZINC(split=dev): AssertionError"
            " assert split in ['train', 'val', 'test']",
        ),
        (
            {"name": "mnist", "parts": None, "split": "dev"},
            "raw: ValueError Split 'dev' found, but expected either 'train', 'val', or 'test'",
        ),
        ({"name": "peptides_func", "subset": "peptides-fun"}, "did you mean peptides-func?"),
        ({"name": "hiv", "subset": "Tox22"}, "did you mean tox21?"),
    ],
)
def test_what_a_class_has_not_is_one_line(tmp_path, args, line):
    raw.mnist(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, tmp_path / "cache", **args)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
