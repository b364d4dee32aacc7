"""Features larger than memory: NumPy files [N, F] that stay on disk, read where rows are needed."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data.feature_store import FeatureStore, TensorAttr

from gymspace.errors import ConfigError
from gymspace.loaders.gather import gather

DTYPES = ("float32", "float16")


def open_features(path: str | Path, rows: int | None = None, width: int | None = None) -> Tensor:
    """The table [N, F] in a ``.npy`` file, float32 or float16, mapped and not read.

    Writing to it changes no file.

    Raises:
        ConfigError: no such file, or not a table of ``rows`` x ``width`` floats.
    """
    try:
        table = np.load(path, mmap_mode="c")
    except (OSError, ValueError, EOFError) as error:
        problem = f"cannot be mapped: {error}; python -m gymspace.loaders.convert makes such files"
        raise ConfigError("features", problem, value=path) from error
    if not isinstance(table, np.memmap) or table.dtype.name not in DTYPES:
        kind = getattr(getattr(table, "dtype", None), "name", "an archive")
        raise ConfigError("features", f"holds {kind}", value=path, choices=DTYPES)
    asked = (rows, width)
    if table.ndim != 2 or any(
        want not in (None, has) for want, has in zip(asked, table.shape, strict=False)
    ):
        words = " x ".join("any" if size is None else f"{size:,}" for size in asked)
        problem = f"has shape {list(table.shape)}, and nodes x features must be {words}"
        raise ConfigError("features", problem, value=path)
    if not table.flags.c_contiguous:
        raise ConfigError("features", "is stored by columns, and must be by rows", value=path)
    return torch.from_numpy(table)


class Features(FeatureStore):
    """Tables of node features by type and name, behind PyG's interface.

    Works with PyG's loaders together with a `GraphStore`, and with those of gymspace. A row is
    gathered as it is asked for; ``float16`` tables give float16 rows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_tables"] = {}

    def open(
        self, path: str | Path, group: str | None = None, name: str = "x", rows: int | None = None
    ) -> "Features":
        """Add a feature file as attribute ``name`` of node type ``group``; returns itself.

        Raises:
            ConfigError: as `open_features`.
        """
        self.put_tensor(open_features(path, rows), group, name, None)
        return self

    def _put_tensor(self, tensor: Tensor | np.ndarray, attr: TensorAttr) -> bool:
        if attr.index is not None:
            return False
        self._tables[attr.group_name, attr.attr_name] = torch.as_tensor(tensor)
        return True

    def _get_tensor(self, attr: TensorAttr) -> Tensor | None:
        table, index = self._tables.get((attr.group_name, attr.attr_name)), attr.index
        if table is None or index is None:
            return table
        if isinstance(index, slice):
            return table[index]
        rows = torch.as_tensor(index)
        rows = rows.nonzero().squeeze(1) if rows.dtype == torch.bool else rows
        return gather(table.contiguous(), rows.reshape(-1))

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        return self._tables.pop((attr.group_name, attr.attr_name), None) is not None

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        table = self._tables.get((attr.group_name, attr.attr_name))
        return None if table is None else tuple(table.shape)

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """Type and name of every table."""
        return [TensorAttr(group, name) for group, name in self._tables]
