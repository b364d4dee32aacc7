"""Feature files from arrays, Parquet files and PyG objects; nothing is left of a failed one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset

from gymspace.errors import ConfigError
from gymspace.loaders import writing
from gymspace.loaders.convert import main
from gymspace.loaders.features import open_features
from gymspace.loaders.writing import write_features

TABLE = np.random.default_rng(0).normal(size=(10, 3))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(writing, "_ROWS", 4)


def hetero():
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(2, 1), torch.tensor(TABLE)
    return data


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    ("source", "more"),
    [
        (TABLE, {}),
        (torch.tensor(TABLE), {}),
        (Data(z=torch.tensor(TABLE)), {"name": "z"}),
        (hetero(), {"group": "item"}),
    ],
)
def test_what_is_written_is_the_source(source, more, dtype, tmp_path):
    assert write_features(source, tmp_path / "x.npy", dtype, **more) == (10, 3)
    assert np.array_equal(open_features(tmp_path / "x.npy").numpy(), TABLE.astype(dtype))
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_a_saved_array_object_and_dataset(tmp_path, capsys):
    np.save(tmp_path / "a.npy", TABLE)
    torch.save(Data(x=torch.tensor(TABLE)), tmp_path / "b.pt")
    InMemoryDataset.save([Data(x=torch.tensor(TABLE))], str(tmp_path / "c.pt"))
    for source in ("a.npy", "b.pt", "c.pt"):
        assert main([str(tmp_path / source), str(tmp_path / "x.npy")]) == 0
        assert np.array_equal(open_features(tmp_path / "x.npy").numpy(), TABLE.astype("f4"))
    assert "x.npy: 10 rows of 3 float32" in capsys.readouterr().out


def test_columns_of_a_parquet_file(tmp_path):
    lists = pa.array(TABLE.tolist())
    table = pa.table({"age": np.arange(10), "name": list("abcdefghij"), "text": lists})
    pa.parquet.write_table(table, tmp_path / "n.parquet")
    shape = write_features(tmp_path / "n.parquet", tmp_path / "x.npy", columns=("text", "age"))
    assert shape == (10, 4)
    expected = np.hstack([TABLE, np.arange(10)[:, None]]).astype("f4")
    assert np.array_equal(open_features(tmp_path / "x.npy").numpy(), expected)


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({"a": ["x"]}, "columns=a: holds string, not numbers"),
        ({"a": [1, None]}, "columns=a: has 1 empty cells"),
        ({"a": [[1, 2], [3]]}, "columns=a: has lists of 1 and of 2 numbers"),
        ({"a": [[1, 2]] * 4 + [[1]]}, "source: has rows of 2 and of 1 numbers"),
    ],
)
def test_cells_that_are_no_numbers(columns, line, tmp_path):
    pa.parquet.write_table(pa.table(columns), tmp_path / "n.parquet")
    with pytest.raises(ConfigError, match=line):
        write_features(tmp_path / "n.parquet", tmp_path / "x.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["n.parquet"]


@pytest.mark.parametrize(
    ("source", "more", "line"),
    [
        (TABLE[0], {}, r"source: must be a table of numbers, and is float64 of shape \[3\]"),
        (TABLE * 1e6, {"dtype": "float16"}, r"dtype=float16: cannot hold .*, row 0, column 0"),
        (TABLE, {"dtype": "int8"}, "dtype=int8: is not one of those of a feature file"),
        (Data(x=torch.tensor(TABLE)), {"name": "feat"}, "name=feat: is no attribute"),
        (hetero(), {}, "group=None: is needed.*choices: user, item"),
        ("gone.npy", {}, "source=gone.npy: cannot be read: "),
        ("gone.pt", {}, "source=gone.pt: cannot be read: "),
        ("gone.parquet", {}, "source=gone.parquet: cannot be read: "),
        ("x.csv", {}, "source=x.csv: is of no known kind; choices: .npy, .parquet, .pt"),
    ],
)
def test_a_source_that_cannot_be_written_is_one_line(source, more, line, tmp_path):
    with pytest.raises(ConfigError, match=line) as told:
        write_features(source, tmp_path / "x.npy", **more)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command_ends_with_2_and_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "gone.npy"), str(tmp_path / "x.npy")]) == 2
    assert main([]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("gymspace.loaders.convert: ")
