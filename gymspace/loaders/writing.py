"""Features of arrays, Parquet files and PyG objects, written part by part as a feature file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from gymspace.errors import ConfigError
from gymspace.loaders.features import DTYPES

_ROWS = 65_536
_KEY = "source"
Parts = Iterator[np.ndarray]


def write_features(
    source: Any,
    path: str | Path,
    dtype: str = "float32",
    name: str = "x",
    group: str | None = None,
    columns: tuple[str, ...] = (),
) -> tuple[int, int]:
    """Write ``source`` to the feature file ``path`` and return its shape [N, F].

    A source is an array or tensor [N, F], a PyG object, or a file: ``.npy``, ``.parquet`` or
    ``.pt``. Of a PyG object it is attribute ``name``, of nodes of type ``group`` where there are
    several types; of a Parquet file it is ``columns``, numbers or lists of one length each, or all.
    Files are read 65,536 rows at a time. A ``.pt`` file is a pickle, to be opened only where it can
    be trusted. A file half written is never at ``path``.

    Raises:
        ConfigError: what cannot be read, is no table of numbers, or is too large for ``dtype``.
    """
    if dtype not in DTYPES:
        raise ConfigError(
            "dtype", "is not one of those of a feature file", value=dtype, choices=DTYPES
        )
    (rows, width), parts = _opened(source, name, group, columns)
    path = Path(path)
    half = path.with_name(path.name + ".half")
    try:
        out = np.lib.format.open_memmap(half, "w+", np.dtype(dtype), (rows, width))
        at = 0
        for part in parts:
            out[at : at + len(part)] = _cast(part, dtype, at)
            at += len(part)
        out.flush()
        half.replace(path)
    except OSError as error:
        raise ConfigError("out", f"cannot be written: {error}", value=path) from error
    finally:
        half.unlink(missing_ok=True)
    return rows, width


def _opened(
    source: Any, name: str, group: str | None, columns: tuple[str, ...]
) -> tuple[tuple[int, int], Parts]:
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix == ".parquet":
            return _parquet(path, columns)
        source = _read(path)
    return _table(_attribute(source, name, group))


def _read(path: Path) -> Any:
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r")
        if path.suffix == ".pt":
            found = torch.load(path, mmap=True, weights_only=False)
            # What PyG's in-memory datasets save: content, where each graph begins, class.
            return found[-1].from_dict(found[0]) if isinstance(found, tuple) else found
    except Exception as error:  # both raise anything, from OSError to UnpicklingError
        raise ConfigError(_KEY, f"cannot be read: {error}", value=path) from error
    raise ConfigError(_KEY, "is of no known kind", value=path, choices=(".npy", ".parquet", ".pt"))


def _attribute(source: Any, name: str, group: str | None) -> Any:
    """The table of a PyG object; what is no such object is the table."""
    if isinstance(source, HeteroData):
        if group not in source.node_types:
            problem = "names no node type" if group else "is needed, there are several node types"
            raise ConfigError("group", problem, value=group, choices=source.node_types)
        source = source[group]
    if hasattr(source, "keys"):
        names = list(source.keys())
        if name not in names:
            raise ConfigError("name", "is no attribute of the source", value=name, choices=names)
        return source[name]
    return source


def _table(source: Any) -> tuple[tuple[int, int], Parts]:
    table = source.numpy() if isinstance(source, Tensor) else np.asarray(source)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        problem = f"must be a table of numbers, and is {table.dtype} of shape {list(table.shape)}"
        raise ConfigError(_KEY, problem)
    return table.shape, (table[at : at + _ROWS] for at in range(0, len(table), _ROWS))


def _parquet(path: Path, columns: tuple[str, ...]) -> tuple[tuple[int, int], Parts]:
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise ConfigError(_KEY, f"cannot be read: {error}", value=path) from error
    names = columns or tuple(file.schema_arrow.names)
    for name in names:
        if name not in file.schema_arrow.names:
            raise ConfigError(
                "columns", "no such column", value=name, choices=file.schema_arrow.names
            )
    parts = (_stacked(batch, names) for batch in file.iter_batches(_ROWS, columns=list(names)))
    first = next(parts, np.empty((0, len(names))))
    return (file.metadata.num_rows, first.shape[1]), _same_width(first, parts)


def _same_width(first: np.ndarray, others: Parts) -> Parts:
    yield first
    for part in others:
        if part.shape[1] != first.shape[1]:
            raise ConfigError(_KEY, f"has rows of {first.shape[1]} and of {part.shape[1]} numbers")
        yield part


def _stacked(batch: pyarrow.RecordBatch, names: tuple[str, ...]) -> np.ndarray:
    return np.hstack([_column(name, batch.column(name)) for name in names])


def _column(name: str, column: pyarrow.Array) -> np.ndarray:
    """One column as [R, 1], or [R, L] where each cell is a list."""
    kind, rows = column.type, len(column)
    if column.null_count:
        raise ConfigError("columns", f"has {column.null_count:,} empty cells", value=name)
    if pyarrow.types.is_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        sizes = np.unique(pyarrow.compute.list_value_length(column).to_numpy(False))
        if sizes.size > 1:
            problem = f"has lists of {sizes[0]} and of {sizes[-1]} numbers"
            raise ConfigError("columns", problem, value=name)
        column, kind = column.flatten(), kind.value_type
    if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
        raise ConfigError("columns", f"holds {kind}, not numbers", value=name)
    return column.to_numpy(False).reshape(rows, -1) if rows else np.empty((0, 1))


def _cast(part: np.ndarray, dtype: str, at: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        cast = part.astype(dtype)
    lost = np.isinf(cast) & np.isfinite(part)
    if lost.any():
        row, column = np.argwhere(lost)[0]
        problem = f"cannot hold {part[row, column]}, row {at + row}, column {column}"
        raise ConfigError("dtype", problem, value=dtype, choices=DTYPES)
    return cast
