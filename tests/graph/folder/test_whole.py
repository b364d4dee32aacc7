import numpy as np
import pytest

from gymspace.errors import ConfigError
from gymspace.graph.folder import dataset
from gymspace.graph.folder.dataset import folder
from tests.graph.folder.tables import many, one, texts, write
from tests.graph.folder.test_dataset import alike

EDGES = "source,target\n3,0\n"


@pytest.fixture
def unread(monkeypatch):
    """From now on nothing is read from tables."""

    def forbid():
        monkeypatch.setattr(dataset, "read_folder", lambda *_: pytest.fail("read again"))

    return forbid


@pytest.mark.parametrize("frames", [one(1), many(1), many(2, within=False)])
def test_a_second_start_reads_no_table(tmp_path, unread, frames):
    path = str(write(tmp_path / "graph", **frames))
    first = folder(path, cache=tmp_path / "cache")
    unread()
    assert alike(folder(path, cache=tmp_path / "cache"), first)
    assert len(list((tmp_path / "cache").rglob("*.*"))) == 1


def test_a_change_of_a_file_or_of_what_is_asked_is_noticed(tmp_path):
    path = texts(tmp_path / "graph", nodes="x,y\n1,0\n2,1\n", edges="source,target\n0,1\n")
    asked = {"path": str(path), "cache": tmp_path / "cache"}
    assert folder(**asked).x.tolist() == [[1], [2]]
    assert folder(**asked, label="x", skip="y", task="regression").y.tolist() == [1, 2]
    (path / "nodes.csv").write_text("x,y\n1,0\n22,1\n")
    assert folder(**asked).x.tolist() == [[1], [22]]
    (path / "edges.csv").write_text("source,target\n0,2\n")
    with pytest.raises(ConfigError, match=r"edges\.csv line 2"):
        folder(**asked)


def test_features_beside_the_tables_are_not_kept_twice(tmp_path, unread):
    path = texts(tmp_path / "graph", edges=EDGES)
    np.save(path / "features.npy", np.random.default_rng(0).random((4, 10_000)))
    first = folder(str(path), cache=tmp_path / "cache")
    (kept,) = (tmp_path / "cache" / "folder").iterdir()
    assert kept.stat().st_size < 10_000
    unread()
    assert alike(folder(str(path), cache=tmp_path / "cache"), first)


def test_what_is_cut_off_in_the_cache_is_made_anew(tmp_path):
    path = str(write(tmp_path / "graph", **one(1)))
    first = folder(path, cache=tmp_path / "cache")
    (kept,) = (tmp_path / "cache" / "folder").iterdir()
    for content in (kept.read_bytes()[:300], b"", b"something else"):
        kept.unlink()  # not written into: it is mapped
        kept.write_bytes(content)
        assert alike(folder(path, cache=tmp_path / "cache"), first)


def test_a_cache_that_cannot_be_written_is_told(tmp_path):
    path = str(texts(tmp_path / "graph", edges=EDGES))
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match=r"data\.cache: cannot write .*graph-"):
        folder(path, cache=tmp_path / "cache")
