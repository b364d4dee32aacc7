"""Feature files: opened without being read, gathered from, and refused where they do not fit."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, GraphStore
from torch_geometric.loader.utils import filter_custom_store

from gymspace.errors import ConfigError
from gymspace.loaders.features import Features, open_features
from gymspace.loaders.gather import gather


@pytest.fixture(params=["float32", "float16"])
def table(request):
    return np.random.default_rng(0).normal(size=(20, 6)).astype(request.param)


def test_rows_of_a_file_are_those_of_the_array(table, tmp_path):
    np.save(tmp_path / "x.npy", table)
    found = gather(open_features(tmp_path / "x.npy", 20, 6), torch.tensor([19, 0, 7]))
    assert np.array_equal(found.numpy(), table[[19, 0, 7]])


def test_writing_to_what_was_opened_changes_no_file(table, tmp_path):
    np.save(tmp_path / "x.npy", table)
    open_features(tmp_path / "x.npy").zero_()
    assert np.array_equal(np.load(tmp_path / "x.npy"), table)


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (np.zeros((4, 3), "f4"), r"has shape \[4, 3\], and nodes x features must be 5 x any"),
        (np.zeros(5, "f4"), r"has shape \[5\], and nodes x features must be 5 x any"),
        (np.zeros((5, 3)), "holds float64; choices: float32, float16"),
        (np.zeros((3, 5), "f4").T, "is stored by columns"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line(array, line, tmp_path):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ConfigError, match=rf"^features=.*x.npy: {line}"):
        open_features(tmp_path / "x.npy", rows=5)


@pytest.mark.parametrize("content", [None, b"", b"no array"])
def test_what_is_no_array_is_refused_in_one_line(content, tmp_path):
    if content is not None:
        (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(ConfigError, match=r"^features=.*x.npy: cannot be mapped: .*convert"):
        open_features(tmp_path / "x.npy")


def test_features_answer_as_a_store_of_pyg(table, tmp_path):
    np.save(tmp_path / "x.npy", table)
    store = Features().open(tmp_path / "x.npy", rows=20)
    rows = torch.tensor([3, 1])
    assert np.array_equal(store[None, "x", rows].numpy(), table[[3, 1]])
    assert np.array_equal(store[None, "x", None].numpy(), table)
    assert store.get_tensor_size(None, "x") == (20, 6)
    none = torch.empty(0, dtype=torch.long)
    batch = filter_custom_store(store, _Edges(), rows, none, none, none)
    assert isinstance(batch, Data)
    assert np.array_equal(batch.x.numpy(), table[[3, 1]])
    assert store.remove_tensor(None, "x", None)
    assert store.get_all_tensor_attrs() == []


class _Edges(GraphStore):
    _put_edge_index = _get_edge_index = _remove_edge_index = None

    def get_all_edge_attrs(self):
        return []
