"""PyG's dataset classes, read from raw files that stay as they are, processed once in a cache."""

import hashlib
import inspect
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np
import torch
import torch_geometric
from filelock import FileLock
from torch_geometric.data import Dataset

from gymspace.errors import ConfigError
from gymspace.graph.rows import PARTS


@dataclass(frozen=True)
class Source:
    """A PyG dataset class with its arguments, the ``folder`` of its raw files and a ``cache``.

    Where the class gives one part of its split at a time, ``parts`` is its argument that says
    which: "train", "val" or "test".
    """

    kind: type[Dataset]
    arguments: Mapping[str, Any]
    folder: Path
    cache: Path
    parts: str | None = None

    @property
    def rooted(self) -> bool:
        """Whether the class has files at all."""
        return "root" in inspect.signature(self.kind.__init__).parameters

    @property
    def words(self) -> str:
        """The class and its arguments, as they would be called."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.kind.__name__}({arguments})"

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The arguments of each dataset that is made: of the only one, or of all parts."""
        chosen = [{}] if self.parts is None else [{self.parts: part} for part in PARTS]
        return [{**self.arguments, **part} for part in chosen]

    def make(self, root: Path | None = None, **methods: Any) -> list[Dataset]:
        """Construct the class on ``root``, quietly, with ``methods`` in place of its own."""
        quiet = property(lambda self: False, lambda self, value: None)
        variant = type(self.kind.__name__, (self.kind,), {"log": quiet, **methods})
        rooted = {} if root is None else {"root": str(root)}
        with _same_draws():
            return [variant(**rooted, **arguments) for arguments in self.calls]


@dataclass(frozen=True)
class Raw:
    """Where a class looks for its raw files: ``inside`` is relative to the class's root."""

    folder: Path
    inside: Path
    files: tuple[Path, ...]

    def missing(self) -> list[str]:
        """Names of the files that are not there."""
        return [path.name for path in self.files if not path.exists()]


class _ReachedError(Exception):
    """Ends a constructor where it would begin to download or to process."""

    def __init__(self, dataset: Dataset):
        self.dataset = dataset


def _stop(dataset: Dataset) -> None:
    raise _ReachedError(dataset)


def load(source: Source) -> list[Dataset]:
    """The dataset of ``source``, or one for each of its parts.

    Nothing is written below its folder unless raw files are missing.

    Missing raw files are downloaded as the class does it. What is processed goes to a folder of the
    cache that belongs to these raw files, arguments and PyG version; it gets its name when it is
    complete, so an interrupted run leaves nothing that counts, and two processes share one.

    Raises:
        ConfigError: raw files that are missing and cannot be had, or cannot be read; a cache that
            cannot be written; arguments that the class refuses.
    """
    if not source.rooted:
        with _told("dataset", f"{source.words} fails"):
            return source.make()
    raw = _locate(source)
    if raw is not None and raw.missing():
        with _lock(source.cache / "download"):
            if raw.missing():
                _download(source, raw)
    entry = source.cache / _entry(source, raw)
    if not entry.exists():
        with _lock(entry):
            if not entry.exists():
                return _process(source, raw, entry)
    with _told("data.cache", f"{entry} cannot be read (delete it to process again)"):
        return source.make(entry)


def _locate(source: Source) -> Raw | None:
    """Ask the class itself where its raw files are; None if it has none."""
    with _told("dataset", f"PyG refuses {source.words}"):
        try:
            source.make(source.folder, _download=_stop, _process=_stop)
        except _ReachedError as reached:
            dataset = reached.dataset
            if not dataset.has_download:
                return None
            folder = Path(os.path.normpath(dataset.raw_dir))
            inside = folder.relative_to(os.path.normpath(source.folder))
            return Raw(folder, inside, tuple(map(Path, dataset.raw_paths)))
    return None


def _download(source: Source, raw: Raw) -> None:
    """Download beside the raw folder and move the files in when all are there."""
    missing = raw.missing()
    shown = ", ".join(missing[:2]) + (f" and {len(missing) - 2} more" if missing[2:] else "")
    problem = (
        f"{source.words} misses {shown} in {raw.folder} (below data.root), and cannot download"
    )
    with _told("dataset", problem):
        _require_writable(raw.folder)
        source.folder.mkdir(parents=True, exist_ok=True)
        try:
            _fetch(source, raw)
        finally:
            with suppress(OSError):  # empty: nothing was fetched
                source.folder.rmdir()


def _fetch(source: Source, raw: Raw) -> None:
    with tempfile.TemporaryDirectory(prefix=".download-", dir=source.folder) as staging:
        with suppress(_ReachedError):
            source.make(Path(staging), _process=_stop)
        raw.folder.mkdir(parents=True, exist_ok=True)
        for item in (Path(staging) / raw.inside).iterdir():
            item.replace(raw.folder / item.name)
    if raw.missing():
        raise FileNotFoundError(f"still no {', '.join(raw.missing())}")


def _require_writable(folder: Path) -> None:
    """A folder that is marked read-only is left alone, also by a user whom the mark cannot stop."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.stat().st_mode & 0o222:
        raise PermissionError(f"{existing} is read-only")


def _process(source: Source, raw: Raw | None, entry: Path) -> list[Dataset]:
    """Process on links to the raw files, then give the folder its name; the lock is held."""
    staging = entry.with_name(f"{entry.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    with _told("data.cache", f"cannot write {staging}"):
        staging.mkdir(parents=True)
        if raw is not None:
            (staging / raw.inside).mkdir(parents=True, exist_ok=True)
            for item in raw.folder.iterdir():
                (staging / raw.inside / item.name).symlink_to(item.resolve())
    place = raw.folder if raw else source.folder
    try:
        with _told("dataset", f"{source.words} cannot read what is in {place}"):
            made = source.make(staging)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    staging.rename(entry)
    return made


def _entry(source: Source, raw: Raw | None) -> str:
    """Name of the cache folder: readable, and different whenever the content may be."""
    states = [(path, path.stat()) for path in raw.files] if raw else []
    content = [
        source.kind.__name__,
        sorted(source.arguments.items()),
        torch_geometric.__version__,
        [(str(path.resolve()), state.st_size, state.st_mtime_ns) for path, state in states],
        *([] if source.parts is None else [source.parts]),
    ]
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]
    label = str(source.arguments.get("name", source.kind.__name__))
    return f"{''.join(c if c.isalnum() else '_' for c in label)}-{digest}"


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold ``path``.lock; the system frees it when its holder dies."""
    with _told("data.cache", f"cannot write in {path.parent}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{path}.lock")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _told(key: str, problem: str) -> Iterator[None]:
    """Tell whatever a dataset class or the file system raises in one line."""
    try:
        yield
    except ConfigError:
        raise
    except ModuleNotFoundError as error:
        lacking = f"needs the package {error.name}, which is not installed"
        raise ConfigError(key, f"{lacking} (pip install {error.name})") from error
    except Exception as error:  # PyG's classes raise anything, from AssertionError to BadZipFile
        raise ConfigError(key, f"{problem}: {type(error).__name__} {_text(error)}") from error


def _text(error: Exception) -> str:
    """What ``error`` says, or else the line that raised it: an `assert` names what it takes."""
    frames = extract_tb(error.__traceback__)
    return str(error) or (frames[-1].line or "" if frames else "")


@contextmanager
def _same_draws() -> Iterator[None]:
    """Classes that draw from the global generators draw the same each time, and leave no trace."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.seed(0)
    np.random.seed(0)
    torch.default_generator.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
