"""Splits kept as files: each once, named by what is in it, and read again by a split of its own."""

import hashlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.rows import PARTS, Rows, Split, check_fold
from gymspace.records import write_atomic


def keep_split(split: Split, cache: Path) -> Path:
    """Write ``split`` below ``cache``, unless it is there, and return its file.

    A ``.npz`` with ``train``, ``val`` and ``test``: int64 numbers of rows, from 0 on.

    Raises:
        ConfigError: the cache cannot be written.
    """
    rows = {part: getattr(split, part).nonzero().squeeze(1).cpu().numpy() for part in PARTS}
    digest = hashlib.sha256(b"|".join(rows[part].tobytes() for part in PARTS)).hexdigest()[:12]
    path = cache / "splits" / f"{digest}.npz"
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, lambda part: _write(part, rows))
        except OSError as error:
            raise ConfigError("data.cache", f"cannot write {path}: {error}") from error
    return path


def saved(data: Data, path: str, fold: int = 0, rows: str = "nodes") -> Split:
    """The split in a ``.npz`` file: ``train``, ``val`` and ``test`` are numbers of rows.

    As a trial's log names it, or of your own: ``np.savez(path, train=..., val=..., test=...)``.

    Raises:
        ConfigError: a file that is none, numbers that are no rows or come twice, an empty part, two
            that overlap.
    """
    check_fold(fold, 1, "a file has")
    found = Rows.of(data, rows)
    parts = {part: _part(part, values, len(found), path) for part, values in _read(path).items()}
    return found.split(parts["train"], parts["val"], parts["test"], f"saved({Path(path).name})")


def _write(path: Path, rows: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # of a name, numpy would make another
        np.savez_compressed(file, allow_pickle=False, **rows)


def _read(path: str) -> dict[str, np.ndarray]:
    try:
        with np.load(path) as file:
            lacking = [part for part in PARTS if part not in file]
            if not lacking:
                return {part: file[part] for part in PARTS}
    except Exception as error:  # BadZipFile, KeyError, EOFError: whatever is not such a file
        problem = f"cannot be read: {type(error).__name__} {error}"
        raise ConfigError("data.split.path", problem, value=path) from error
    raise ConfigError("data.split.path", f"has no {' and no '.join(lacking)}", value=path)


def _part(part: str, values: np.ndarray, count: int, path: str) -> Tensor:
    """Numbers of rows, each of which is one, once."""
    problem = ""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        problem = f"is {values.dtype} {list(values.shape)}, not whole numbers of rows"
    elif (outside := values[(values < 0) | (values >= count)]).size:
        problem = f"has row {outside[0]}, and there are {count}"
    elif len(set(values.tolist())) < len(values):
        problem = "has a row twice"
    if problem:
        raise ConfigError("data.split.path", f"{part} {problem}", value=path)
    return torch.from_numpy(values.astype(np.int64))
