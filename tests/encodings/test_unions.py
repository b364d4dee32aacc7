"""Encodings of many graphs are those of each, and kept as one file."""

import logging

import pytest
import torch

from gymspace.encodings import blocks, cache
from gymspace.encodings.cache import prepare
from gymspace.encodings.structural import RWSE
from gymspace.encodings.unions import apart
from gymspace.tables import ENCODINGS
from tests.encodings.graphs import component, path, ring

SIZES = (6, 1, 3, 5)
GRAPHS = (ring(6), torch.empty(2, 0, dtype=torch.int64), path(3), ring(5))


def union():
    starts = torch.tensor(SIZES).cumsum(0) - torch.tensor(SIZES)
    return torch.cat([edges + start for edges, start in zip(GRAPHS, starts, strict=True)], dim=1)


def test_a_union_comes_apart():
    for (edges, nodes), own, size in zip(apart(union(), SIZES), GRAPHS, SIZES, strict=True):
        assert torch.equal(edges, own)
        assert nodes == size


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_each_graph_has_its_own_encoding(name):
    """Never that of the union, whose spectrum and distances are others."""
    asked = [component(name, **({"k": 3} if "lap" in name or name == "signnet" else {}))]
    together = prepare(asked, union(), SIZES)
    for number, part in enumerate(zip(*(t.split(SIZES) for t in together.values()), strict=True)):
        alone = prepare(asked, GRAPHS[number], SIZES[number])
        for key, tensor in zip(together, part, strict=True):
            if key.endswith(".bin"):
                continue  # bins are of all graphs together
            own = alone[key]
            tensor = tensor[:, : own.size(1)] if own.dim() > 1 else tensor
            torch.testing.assert_close(tensor, own, rtol=1e-9, atol=1e-12)


def test_distances_are_as_wide_as_the_largest_graph():
    found = prepare([component("spd")], union(), SIZES)["spd"]
    assert found.shape == (15, 6)
    assert found[6].tolist() == [0, -1, -1, -1, -1, -1]
    assert found[7].tolist() == [0, 1, 2, -1, -1, -1]


def test_all_graphs_are_in_one_file_that_is_read_the_second_time(tmp_path, monkeypatch):
    first = prepare([component("rwse")], union(), SIZES, tmp_path)
    monkeypatch.setattr(RWSE, "compute", None)
    again = prepare([component("rwse")], union(), SIZES, tmp_path)
    assert torch.equal(first["rwse"], again["rwse"])
    assert len(list(tmp_path.glob("encodings/*.pt"))) == 1


def test_the_same_edges_in_other_graphs_are_computed_anew(tmp_path):
    """A node without edges may belong to the graph before it or be one of its own."""
    for sizes in (SIZES, (7, 3, 5)):
        prepare([component("rwse")], union(), sizes, tmp_path)
    assert len(list(tmp_path.glob("encodings/*.pt"))) == 2


def test_long_work_is_told_by_graphs(caplog, monkeypatch):
    monkeypatch.setattr(cache, "LONG", -1)
    monkeypatch.setattr(blocks, "SECONDS", -1)
    with caplog.at_level(logging.INFO, "gymspace.encodings"):
        prepare([component("degree")], union(), SIZES)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:2] == ["degree: 1 of 4 graphs", "degree: 2 of 4 graphs"]
    assert lines[-1].startswith("computed encodings=degree of 4 graphs in ")
