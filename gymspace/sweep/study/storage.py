"""Where a study is kept: a journal file, PostgreSQL or a gRPC proxy; all say so when they fail."""

import json
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock, Timeout
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import BaseStorage, GrpcStorageProxy, JournalStorage, RDBStorage, get_storage
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, ProgrammingError, SQLAlchemyError

from gymspace.errors import ConfigError

KEY = "sweep.storage"
JOURNALS = (".journal", ".log")
CHOICES = ("<file>.journal", "postgresql://user@host/database", "grpc://host:port")
ANSWER = 5.0  # seconds within which a storage has to answer
TURN = 60.0  # seconds that a process waits for its turn at a journal which others are writing


@dataclass(frozen=True)
class Storage:
    """An open storage, its name without a password, what it raises when it fails, its end."""

    backend: BaseStorage
    shown: str
    faults: tuple[type[Exception], ...]
    close: Callable[[], None]

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Tell a failure of the storage in one line.

        Raises:
            ConfigError: it failed.
        """
        try:
            yield
        except self.faults as error:
            problem = f"failed: {_first_line(error)}"
            raise ConfigError(KEY, problem, value=self.shown) from error


def connect(url: str) -> Storage:
    """Open the storage at ``url``: a path ending in .journal or .log, postgresql:// or grpc://.

    Raises:
        ConfigError: no such storage, one that does not answer within `ANSWER` seconds, a journal
            that is locked or has a line which is no record.
    """
    return opener(url)()


def opener(url: str) -> Callable[[], Storage]:
    """What opens the storage at ``url``.

    Raises:
        ConfigError: no such storage.
    """
    scheme = url.partition("://")[0] if "://" in url else None
    if scheme is None and Path(url).suffix in JOURNALS:
        return partial(_journal, Path(url))
    openers = {"postgresql": _postgresql, "postgresql+psycopg": _postgresql, "grpc": _grpc}
    if scheme not in openers:
        raise ConfigError(KEY, "is no storage", value=shown(url), choices=CHOICES)
    return partial(openers[scheme], url)


def shown(url: str) -> str:
    """``url`` without its password."""
    return re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", url)


class Turn:
    """A lock that the kernel frees when its process is killed; Optuna's own stays for 30 s."""

    def __init__(self, journal: Path, seconds: float):
        self._lock = FileLock(
            journal.with_name(f".{journal.name}.lock"), poll_interval=0.002, preserve_lock_file=True
        )
        self.seconds = seconds

    def acquire(self) -> bool:
        """Wait for it.

        Raises:
            Timeout: another process kept it for too long.
        """
        self._lock.acquire(timeout=self.seconds)
        return True

    def release(self) -> None:
        """Let others go on."""
        self._lock.release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have it for a while."""
        self.acquire()
        try:
            yield
        finally:
            self.release()


class Journal(JournalFileBackend):
    """A journal file that says which of its lines is none of a journal."""

    def __init__(self, path: Path, turn: Turn):
        super().__init__(str(path), turn)  # type: ignore[arg-type]
        self._turn = turn
        self.read = 0  # the number of the last line that was taken in

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        """The records from a number on."""
        self.read = log_number_from
        try:
            for record in super().read_logs(log_number_from):
                self.read += 1
                yield record
        except ValueError as error:
            raise StorageInternalError(_no_record(self.read + 1)) from error
        except OSError as error:
            raise StorageInternalError(f"cannot be read: {error.strerror}") from error

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write records; only those that end a trial are waited for until they are on the disk.

        Optuna waits for each, several times a proposal. What a power cut takes is not lost with
        it: a trial that has not ended here is run again, or found finished in its folder.
        """
        lines = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        try:
            with self._turn.held(), Path(self._file_path).open("ab") as file:
                file.write(lines.encode())
                file.flush()
                if any("datetime_complete" in log for log in logs):
                    os.fsync(file.fileno())
        except Timeout as error:
            raise StorageInternalError(f"is locked for more than {TURN:g} s") from error
        except OSError as error:
            raise StorageInternalError(f"cannot be written: {error.strerror}") from error

    def require_whole(self) -> None:
        """Look at the last line: Optuna passes over it if it is bad, and stumbles later.

        Raises:
            StorageInternalError: it is no record, or cut off.
        """
        lines = Path(self._file_path).read_bytes().splitlines(keepends=True)
        if len(lines) > self.read:
            raise StorageInternalError(_no_record(len(lines)))


def _no_record(line: int) -> str:
    return f"line {line} is no record of a journal: mend it, or drop a last line that was cut off"


def _journal(path: Path) -> Storage:
    turn = Turn(path, ANSWER)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        backend = Journal(path, turn)
        turn.acquire()  # so that nobody is in the middle of a line
    except Timeout as error:
        problem = f"is locked: another process has been writing for {ANSWER:g} s"
        raise ConfigError(KEY, problem, value=path) from error
    except OSError as error:
        raise ConfigError(KEY, f"cannot be written: {error.strerror}", value=path) from error
    try:
        storage = JournalStorage(backend)
        backend.require_whole()
    except StorageInternalError as error:
        raise ConfigError(KEY, str(error), value=path) from error
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
        raise ConfigError(KEY, _no_record(backend.read), value=path) from error
    finally:
        turn.release()
    turn.seconds = TURN
    return Storage(storage, str(path), (StorageInternalError,), lambda: None)


def _postgresql(url: str) -> Storage:
    failures = (StorageInternalError, SQLAlchemyError)
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
        storage = _tables(address.render_as_string(hide_password=False))
    except (ImportError, ModuleNotFoundError) as error:
        problem = "needs psycopg: pip install 'gymspace[postgres]'"
        raise ConfigError(KEY, problem, value=shown(url)) from error
    except (ArgumentError, ValueError, *failures) as error:
        problem = f"does not answer: {_first_line(error)}"
        raise ConfigError(KEY, problem, value=shown(url)) from error
    return Storage(get_storage(storage), shown(url), failures, storage.engine.dispose)


def _tables(url: str) -> RDBStorage:
    """The database with Optuna's tables; several processes may be making them at this moment."""
    options = {"connect_args": {"connect_timeout": int(ANSWER)}, "pool_pre_ping": True}
    for wait in (0.1, 0.2, 0.4, 0.8):
        try:
            return RDBStorage(url, engine_kwargs=dict(options))
        except (IntegrityError, ProgrammingError, StorageInternalError):
            time.sleep(wait)
    return RDBStorage(url, engine_kwargs=dict(options))


def _grpc(url: str) -> Storage:
    try:
        address = urlsplit(url)
        if not address.hostname or not address.port:
            raise ValueError("it is written grpc://host:port")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            storage = GrpcStorageProxy(host=address.hostname, port=address.port)
        storage.wait_server_ready(timeout=ANSWER)
        from grpc import RpcError
    except ImportError as error:
        problem = "needs grpcio: pip install 'gymspace[grpc]'"
        raise ConfigError(KEY, problem, value=shown(url)) from error
    except (ConnectionError, ValueError) as error:
        problem = f"does not answer: {_first_line(error)}"
        raise ConfigError(KEY, problem, value=shown(url)) from error
    return Storage(storage, shown(url), (RpcError,), storage.close)


def _first_line(error: Exception) -> str:
    """What a failure comes to: gRPC and SQLAlchemy have it below several layers of text."""
    said = error.details() if hasattr(error, "details") else None
    cause = error.__cause__ if isinstance(error.__cause__, SQLAlchemyError) else error
    return next(iter(str(said or cause).strip().splitlines()), repr(error))
