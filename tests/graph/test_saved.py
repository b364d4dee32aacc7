"""Splits as files: kept once, read again, and refused where they are none."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.folds import kfold
from gymspace.graph.saved import keep_split, saved

DATA = Data(y=torch.arange(30) % 3)


def test_a_kept_split_is_read_as_it_was_and_written_once(tmp_path):
    splits = [kfold(DATA, seed, fold, 5) for seed in (0, 1) for fold in range(5)]
    paths = [keep_split(split, tmp_path) for split in splits]
    assert len(set(paths)) == 5  # of the fold, not of the trial's seed
    assert sorted((tmp_path / "splits").iterdir()) == sorted(set(paths))
    for split, path in zip(splits, paths, strict=True):
        again = saved(DATA, str(path))
        for part in ("train", "val", "test"):
            assert torch.equal(getattr(again, part), getattr(split, part))


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "splits").write_text("a file")
    with pytest.raises(ConfigError, match=r"data\.cache: cannot write .*splits"):
        keep_split(kfold(DATA, 0), tmp_path)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"val": [0, 5]}, "the train and val splits share 1 nodes"),
        ({"val": [30]}, "val has row 30, and there are 30"),
        ({"test": [-1]}, "test has row -1, and there are 30"),
        ({"test": [7, 8, 7]}, "test has a row twice"),
        ({"test": [True, False]}, "test is bool [2], not whole numbers of rows"),
        ({"test": np.array([], dtype=int)}, "the test split is empty"),
        ({"test": None}, "has no test"),
    ],
)
def test_what_is_no_split_is_one_line(tmp_path, change, line):
    parts = {"train": [0, 1], "val": [2], "test": [3], **change}
    np.savez(tmp_path / "mine.npz", **{k: v for k, v in parts.items() if v is not None})
    with pytest.raises(ConfigError) as caught:
        saved(DATA, str(tmp_path / "mine.npz"))
    assert line in str(caught.value)


def test_a_file_that_is_none_is_one_line(tmp_path):
    (tmp_path / "mine.npz").write_text("train,val,test")
    for path in (tmp_path / "mine.npz", tmp_path / "none.npz"):
        with pytest.raises(ConfigError, match=rf"data\.split\.path={path}: cannot be read"):
            saved(DATA, str(path))
