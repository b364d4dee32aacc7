"""A dataset is processed once: every later start takes it from data.cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch_geometric.datasets
from torch import Tensor
from torch_geometric.data import Data

from gymspace import registry
from gymspace.schema import Component
from gymspace.tables import DATASETS
from tests.conftest import HAVE_REAL_DATA, REAL_DATA
from tests.graph import many, planetoid, raw

WRITTEN = {**raw.PARTED, "cornell": raw.cornell, "mutag": many.write_tu}
WRITTEN["cora"] = lambda root: planetoid.write(root / "planetoid")
WITH_FILES = {name: row for name, row in DATASETS.items() if row.preset.get("folder")}


def at_hand() -> Iterator[str]:
    """Names whose raw files lie in the folder of real data."""
    for name, row in WITH_FILES.items() if HAVE_REAL_DATA else ():
        folder, subset = REAL_DATA / row.preset["folder"], str(row.preset.get("subset", ""))
        spellings = {subset.lower(), subset.lower().replace("_", "-")}
        if folder.is_dir() and spellings & {path.name.lower() for path in folder.iterdir()}:
            yield name


def load(root: Path, cache: Path, name: str):
    component = Component.model_validate(name)
    return registry.build("dataset", component, root=root, cache=cache)


def same(one, other) -> bool:
    """Whether all graphs have equal tensors."""
    pairs = [[one], [other]] if isinstance(one, Data) else [one, other]
    return all(
        a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a.keys())  # noqa: SIM118
        for a, b in zip(*pairs, strict=True)
    )


def _equal(one, other) -> bool:
    if isinstance(one, Tensor):  # a missing label is nan
        return one.shape == other.shape and torch.allclose(one, other, 0, 0, equal_nan=True)
    return one == other


def reached(dataset):
    """Stands in for what a second start has no need of."""
    raise AssertionError(f"{type(dataset).__name__} processes or downloads again")


@pytest.mark.parametrize(
    ("name", "origin"),
    [*((name, "written") for name in WRITTEN), *((name, "real") for name in at_hand())],
)
def test_a_second_start_processes_nothing(scratch, monkeypatch, name, origin):
    root = REAL_DATA if origin == "real" else scratch / "root"
    if origin == "written":
        WRITTEN[name](root)
    first = load(root, scratch / "cache", name)
    kind = getattr(torch_geometric.datasets, WITH_FILES[name].preset["cls"])
    for step in ("process", "download"):
        monkeypatch.setattr(kind, step, reached)
    assert same(first, load(root, scratch / "cache", name))
