"""Who may write in a sweep's folder: one process alone, or the processes of a search together."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gymspace.errors import ConfigError
from gymspace.records import read_json, write_json
from gymspace.sweep.folder import MANIFEST, TRIALS, SweepFolder

LOCK, OWNER = ".lock", ".owner"


@contextmanager
def hold(path: Path, part: str = "") -> Iterator[SweepFolder]:
    """The sweep folder at ``path``, made if need be, kept from other processes meanwhile.

    With a ``part``, only those who ask for the same part are kept away.

    Raises:
        ConfigError: it cannot be written, holds no sweep, or a running process holds it.
    """
    owner = path / f"{OWNER}{part}"
    try:
        _prepare(path)
        lock = FileLock(path / f"{LOCK}{part}", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise _held(path, owner) from error
    except OSError as error:
        raise _not_writable(path, error) from error
    try:
        write_json(owner, _signature())
        yield SweepFolder(path)
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


@contextmanager
def share(path: Path) -> Iterator[SweepFolder]:
    """The sweep folder at ``path``, kept from those who want all of it, as `hold` does.

    Raises:
        ConfigError: as `hold`.
    """
    owner = path / OWNER
    with ExitStack() as files:
        try:
            _prepare(path)
            file = files.enter_context((path / LOCK).open("a"))
            # The same lock as `FileLock` takes; it ends with the file or its process.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            write_json(owner, _signature())
        except BlockingIOError as error:
            raise _held(path, owner) from error
        except OSError as error:
            raise _not_writable(path, error) from error
        try:
            yield SweepFolder(path)
        finally:
            if read_json(owner) == _signature():
                owner.unlink(missing_ok=True)


def _prepare(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    _require_sweep(path)


def _signature() -> dict[str, Any]:
    return {"pid": os.getpid(), "host": socket.gethostname()}


def _held(path: Path, owner: Path) -> ConfigError:
    known = read_json(owner)
    by = "process {pid} on {host}".format_map(known) if known else "another process"
    problem = f"is held by {by}: wait for it, or choose another sweep.name"
    return ConfigError("sweep.name", problem, value=path)


def _not_writable(path: Path, error: OSError) -> ConfigError:
    problem = f"cannot be written ({error.strerror or error}): set results=<a folder>"
    return ConfigError("results", problem, value=path)


def _require_sweep(path: Path) -> None:
    """Leave alone a folder of other things; hidden files, as of a launch cut off, do not count."""
    names = sorted(p.name for p in path.iterdir() if not p.name.startswith("."))
    if names and not {MANIFEST, TRIALS} & set(names):
        problem = f"holds {names[0]} and no {MANIFEST}, so it is no sweep: choose another name"
        raise ConfigError("sweep.name", problem, value=path)
