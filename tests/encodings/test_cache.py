"""The cache: nothing is computed twice, by two at once neither, and nothing broken is read."""

import logging
import threading

import pytest
import torch

from gymspace.encodings import blocks, cache
from gymspace.encodings.cache import prepare
from gymspace.encodings.spectral import Lap
from gymspace.encodings.structural import RWSE, Degree
from gymspace.errors import ConfigError
from tests.encodings.graphs import built, component, path, ring


@pytest.fixture
def counted(monkeypatch):
    """Encodings that were computed, by name."""
    done = []
    for kind in (Lap, RWSE, Degree):

        def compute(self, index, nodes, original=kind.compute):
            done.append(self.name)
            return original(self, index, nodes)

        monkeypatch.setattr(kind, "compute", compute)
    return done


def ask(folder, *components, index=None, nodes=8):
    return prepare(components, ring(8) if index is None else index, nodes, folder)


def test_a_second_start_computes_none(tmp_path, counted):
    both = [component("lap"), component("rwse")]
    first, second = ask(tmp_path, *both), ask(tmp_path, *both)
    assert counted == ["lap", "rwse"]
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert first.keys() == second.keys()


def test_what_the_tensors_depend_on_is_computed_anew(tmp_path, counted, monkeypatch):
    lap = component("lap")
    ask(tmp_path, lap)
    ask(tmp_path, lap, index=path(8))
    ask(tmp_path, lap, nodes=9)
    ask(tmp_path, component("lap", k=3))
    monkeypatch.setattr(Lap, "version", 2)
    ask(tmp_path, lap)
    assert counted == ["lap"] * 5


def test_what_they_do_not_depend_on_is_not(tmp_path, counted):
    for args in ({}, {"dim": 8}, {"layers": 3}):
        ask(tmp_path, component("lap", **args))
    assert counted == ["lap"]


def test_a_form_is_made_of_stored_numbers(tmp_path, monkeypatch):
    plain = ask(tmp_path, component("clustering"))
    monkeypatch.setattr(cache, "_computed", None)
    binned = ask(tmp_path, component("clustering", form="bounded", dim=2))
    assert binned.keys() - plain.keys() == {"clustering.bin"}


def test_two_at_once_compute_it_once(tmp_path, monkeypatch):
    entered, go, calls = threading.Event(), threading.Event(), []

    def compute(self, index, nodes, original=RWSE.compute):
        calls.append(nodes)
        entered.set()
        assert go.wait(60)
        return original(self, index, nodes)

    monkeypatch.setattr(RWSE, "compute", compute)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(ask(tmp_path, component("rwse"))))
        for _ in range(2)
    ]
    threads[0].start()
    assert entered.wait(60)
    threads[1].start()
    threads[1].join(0.2)
    assert threads[1].is_alive()
    go.set()
    for thread in threads:
        thread.join(60)
    assert calls == [8]
    assert torch.equal(found[0]["rwse"], found[1]["rwse"])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"not at all"])
def test_a_broken_file_is_computed_anew(tmp_path, counted, caplog, content):
    first = ask(tmp_path, component("rwse"))
    (file,) = tmp_path.glob("encodings/rwse-*.pt")
    file.write_bytes(content)
    assert torch.equal(ask(tmp_path, component("rwse"))["rwse"], first["rwse"])
    assert counted == ["rwse"] * 2
    assert "cannot be read and is computed anew" in caplog.text
    ask(tmp_path, component("rwse"))
    assert counted == ["rwse"] * 2


@pytest.mark.parametrize(
    "content", [[torch.ones(8)], {"rwse": torch.ones(7, 16)}, {"rwse": 1}, torch.ones(8)]
)
def test_a_file_of_something_else_is_computed_anew(tmp_path, counted, content):
    first = ask(tmp_path, component("rwse"))
    (file,) = tmp_path.glob("encodings/rwse-*.pt")
    torch.save(content, file)
    assert torch.equal(ask(tmp_path, component("rwse"))["rwse"], first["rwse"])
    assert counted == ["rwse"] * 2


def test_a_computation_that_is_cut_off_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(RWSE, "compute", lambda *_: {"rwse": torch.ones(8)})
    monkeypatch.setattr(cache.torch, "save", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ask(tmp_path, component("rwse"))
    assert [file.suffix for file in (tmp_path / "encodings").iterdir()] == [".lock"]


def test_what_is_computed_at_once_is_not_stored(tmp_path):
    ask(tmp_path, component("degree"), component("constant"), component("onehot"))
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "encodings").write_text("a file")
    with pytest.raises(ConfigError, match=r"data.cache: cannot write .*encodings"):
        ask(tmp_path, component("rwse"))


def test_preparing_draws_nothing():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    ask(None, component("lap"), component("signnet"))
    assert torch.equal(torch.get_rng_state(), before)


class Twin(RWSE):
    """An encoding of the user's that forgot to change the name."""


class Short(Degree):
    """An encoding with a mistake."""

    def compute(self, edge_index, nodes):
        return {"degree": torch.ones(nodes - 1, 1)}


OWN = "tests.encodings.test_cache"


def test_two_encodings_with_one_tensor_are_told():
    with pytest.raises(ConfigError, match=r"Twin: makes rwse, as another encoding does"):
        ask(None, component("rwse"), component(f"{OWN}:Twin"))


def test_a_tensor_of_another_size_is_told():
    with pytest.raises(ConfigError, match=r"Short: gives degree of shape \[7, 1\] for 8 nodes"):
        ask(None, component(f"{OWN}:Short"))


def test_user_code_is_kept_by_all_its_arguments(tmp_path):
    ask(tmp_path, component(f"{OWN}:Twin"))
    ask(tmp_path, component(f"{OWN}:Twin", dim=3))
    assert len(list(tmp_path.glob("encodings/rwse-*.pt"))) == 2


def test_what_is_no_encoding_is_told():
    with pytest.raises(ConfigError, match=r"encodings=torch.nn:ReLU: is no gymspace.encodings"):
        built("torch.nn:ReLU", 4)


def test_long_work_is_told(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(cache, "LONG", -1)
    monkeypatch.setattr(blocks, "SECONDS", -1)
    monkeypatch.setattr(blocks, "NUMBERS", 24)
    with caplog.at_level(logging.INFO, "gymspace.encodings"):
        ask(tmp_path, component("rwse"))
        ask(tmp_path, component("rwse"))
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:3] == ["rwse: 3 of 8 nodes", "rwse: 6 of 8 nodes", "rwse: 8 of 8 nodes"]
    assert lines[3].startswith("computed encodings=rwse of 8 nodes in ")
    assert len(lines) == 4
