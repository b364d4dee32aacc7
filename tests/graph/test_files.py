import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch_geometric.datasets import Planetoid

from gymspace.errors import ConfigError
from gymspace.graph.datasets import pyg
from tests.graph import planetoid

LOAD = """
import sys
from pathlib import Path
from gymspace.graph.datasets import pyg
from torch_geometric.datasets import Planetoid
process = Planetoid.process
def told(self):
    print("processing", flush=True)
    {wait}
    process(self)
Planetoid.process = told
print(pyg(Path(sys.argv[1]), Path(sys.argv[2]), "Planetoid", "Cora").num_nodes)
"""


def cora(root, cache, **args):
    return pyg(Path(root), Path(cache), "Planetoid", "Cora", **args)


def start(root, cache, wait="pass"):
    command = [sys.executable, "-c", LOAD.format(wait=wait), str(root), str(cache)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def entries(cache):
    return [path for path in Path(cache, "planetoid").iterdir() if path.is_dir()]


def state_of(folder):
    return sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in folder.rglob("*"))


@pytest.fixture
def processed(monkeypatch):
    """Counts how often PyG processes raw files."""
    calls, process = [], Planetoid.process
    monkeypatch.setattr(Planetoid, "process", lambda self: calls.append(1) or process(self))
    return calls


def test_nothing_below_the_root_changes(cora_root, tmp_path):
    before = state_of(cora_root)
    cora(cora_root, tmp_path)
    cora(cora_root, tmp_path)
    assert state_of(cora_root) == before


def test_the_second_load_does_not_process_again(cora_root, tmp_path, processed):
    first, second = cora(cora_root, tmp_path), cora(cora_root, tmp_path)
    assert len(processed) == 1
    assert all(torch.equal(first[key], second[key]) for key in ("x", "y", "edge_index"))


def test_other_raw_files_or_another_root_are_processed_anew(tmp_path, processed):
    for name, seed in (("one", 0), ("other", 1)):
        planetoid.write(tmp_path / name / "planetoid", seed=seed)
    cache = tmp_path / "cache"
    one, other = cora(tmp_path / "one", cache), cora(tmp_path / "other", cache)
    assert not torch.equal(one.x, other.x)
    shutil.rmtree(tmp_path / "one")
    planetoid.write(tmp_path / "one" / "planetoid", seed=1)
    assert torch.equal(cora(tmp_path / "one", cache).x, other.x)
    assert len(processed) == 3


def test_a_killed_process_leaves_nothing_that_counts_as_finished(stand_in, tmp_path, processed):
    started = start(stand_in, tmp_path, wait="__import__('time').sleep(600)")
    assert started.stdout.readline() == "processing\n"
    started.send_signal(signal.SIGKILL)
    started.communicate()
    assert [path.suffix for path in entries(tmp_path)] == [".part"]
    assert cora(stand_in, tmp_path).num_nodes == planetoid.NODES
    assert len(processed) == 1
    assert [path.suffix for path in entries(tmp_path)] == [""]


def test_two_processes_at_once_process_once_and_agree(stand_in, tmp_path):
    both = [start(stand_in, tmp_path, wait="__import__('time').sleep(1)") for _ in range(2)]
    said = sorted(process.communicate()[0] for process in both)
    assert said == [f"{planetoid.NODES}\n", f"processing\n{planetoid.NODES}\n"]


def test_missing_files_are_downloaded_into_the_root(stand_in, tmp_path, monkeypatch):
    origin = stand_in / "planetoid" / "Cora" / "raw"
    monkeypatch.setattr(Planetoid, "url", origin.as_uri())
    cora(tmp_path / "root", tmp_path / "cache")
    folder = tmp_path / "root" / "planetoid"
    assert [path.name for path in folder.iterdir()] == ["Cora"]
    assert {p.name for p in (folder / "Cora" / "raw").iterdir()} == {
        p.name for p in origin.iterdir()
    }


@pytest.mark.parametrize("kept", [0, 3])
def test_what_cannot_be_downloaded_is_named_and_nothing_is_left(tmp_path, monkeypatch, kept):
    raw = planetoid.write(tmp_path / "root" / "planetoid")
    for path in sorted(raw.iterdir())[kept:]:
        path.unlink()
    monkeypatch.setattr(Planetoid, "url", (tmp_path / "nowhere").as_uri())
    before = state_of(tmp_path / "root" / "planetoid" / "Cora")
    with pytest.raises(ConfigError) as caught:
        cora(tmp_path / "root", tmp_path / "cache")
    for part in (
        "Planetoid(name=Cora) misses ind.cora",
        str(raw),
        "data.root",
        "FileNotFoundError",
    ):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert state_of(tmp_path / "root" / "planetoid" / "Cora") == before


def test_a_root_marked_read_only_is_left_alone(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(Planetoid, "url", (stand_in / "planetoid" / "Cora" / "raw").as_uri())
    root = tmp_path / "root"
    root.mkdir(mode=0o555)
    with pytest.raises(ConfigError, match=r"data\.root.*is read-only"):
        cora(root, tmp_path / "cache")
    assert list(root.iterdir()) == []


def test_files_that_are_no_such_data_are_named(tmp_path):
    raw = planetoid.write(tmp_path / "root" / "planetoid")
    (raw / "ind.cora.allx").write_bytes(b"not a pickle")
    with pytest.raises(ConfigError, match=r"cannot read what is in .*Cora/raw") as caught:
        cora(tmp_path / "root", tmp_path / "cache")
    assert "\n" not in str(caught.value)
    assert entries(tmp_path / "cache") == []


def test_a_broken_cache_says_what_to_delete(stand_in, tmp_path):
    cora(stand_in, tmp_path)
    (entry,) = entries(tmp_path)
    (entry / "Cora" / "processed" / "data.pt").write_bytes(b"")
    with pytest.raises(ConfigError, match=rf"data\.cache: {entry} cannot be read \(delete it"):
        cora(stand_in, tmp_path)


def test_a_cache_that_cannot_be_written_is_named(stand_in, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match=r"data\.cache: cannot write in"):
        cora(stand_in, tmp_path / "cache")


def test_processing_is_quiet(stand_in, tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    cora(stand_in, tmp_path)
    assert capfd.readouterr() == ("", "")
