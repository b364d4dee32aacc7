"""A rank: a forked process that makes its worker once and then answers one job after another."""

import faulthandler
import importlib
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from gymspace.dist.faults import fault_of
from gymspace.dist.jobs import Fault
from gymspace.errors import ConfigError
from gymspace.records import Report

Handler = Callable[[Any, Report], Any]
# What a message to a rank is, in its first byte. An answer that comes too late meets a rank that
# waits for a job, and is dropped.
JOB, ANSWER = b"j", b"a"

# A rank may work alone while the others wait for it, so this is longer than any honest wait; a
# rank that failed is noticed by the parent long before.
COLLECTIVE_TIMEOUT = timedelta(minutes=30)


@dataclass(frozen=True)
class Seat:
    """Where a rank sits: its worker, its place, its share of the machine and its files.

    ``store`` is the path of the slot's rendezvous file, ``output`` the file for stdout and stderr.
    """

    worker: str
    slot: int
    rank: int
    ranks: int
    threads: int
    device: str
    store: str
    output: str


def serve(conn: Connection, seat: Seat) -> NoReturn:
    """Make the worker, say that it is ready, and answer jobs until the parent closes ``conn``."""
    os.set_inheritable(conn.fileno(), False)
    _redirect(seat.output)
    try:
        handler = _worker(seat)
    except BaseException as error:
        _send(conn, "failed", _fault(seat, error))
        os._exit(1)
    _send(conn, "ready", None)
    while True:
        kind, message = _receive(conn)
        if kind == JOB:
            os.truncate(seat.output, 0)
            conn.send_bytes(_outcome(conn, handler, seat, message))


def _receive(conn: Connection) -> tuple[bytes, bytes]:
    """The next message of the parent, its kind apart; without a parent this process ends."""
    try:
        message = conn.recv_bytes()
    except (EOFError, OSError):
        # Tear-down of a process group can hang, so there is none.
        os._exit(0)
    return message[:1], message[1:]


def _redirect(output: str) -> None:
    """Send file descriptors 1 and 2, and with them C's and Python's streams, to one file."""
    fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)
    for name in ("stdout", "stderr"):
        stream = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    faulthandler.enable(2)


def _worker(seat: Seat) -> Handler:
    module, _, attribute = seat.worker.partition(":")
    make = getattr(importlib.import_module(module), attribute)
    if seat.ranks > 1 or seat.device == "cuda":
        importlib.import_module("torch")
    if "torch" in sys.modules:
        _set_up_torch(seat)
    return make(seat.rank, seat.ranks)


def _set_up_torch(seat: Seat) -> None:
    import torch

    torch.set_num_threads(seat.threads)
    if seat.device == "cuda":
        devices = torch.cuda.device_count()
        if not devices:
            raise ConfigError("device", "there is no CUDA device here", value="cuda")
        torch.cuda.set_device((seat.slot * seat.ranks + seat.rank) % devices)
    if seat.ranks > 1:
        # All ranks of a slot are on this machine, whatever its host name resolves to.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        torch.distributed.init_process_group(
            "nccl" if seat.device == "cuda" else "gloo",
            init_method=f"file://{seat.store}",
            rank=seat.rank,
            world_size=seat.ranks,
            timeout=COLLECTIVE_TIMEOUT,
        )


def _outcome(conn: Connection, handler: Handler, seat: Seat, message: bytes) -> bytes:
    """Do one job; the reply is pickled in here, so that a value that cannot be is a failure."""

    def report(value: Any, wait: bool = False, /) -> Any:
        if seat.rank:
            return None
        _send(conn, "progress", value)
        # While a job runs, answers are all that can come.
        return pickle.loads(_receive(conn)[1]) if wait or conn.poll() else None

    try:
        value = handler(pickle.loads(message), report)
        return pickle.dumps(("done", value if seat.rank == 0 else None))
    except BaseException as error:
        return pickle.dumps(("failed", _fault(seat, error)))


def _fault(seat: Seat, error: BaseException) -> Fault:
    return fault_of(error, seat.rank, alone=seat.ranks == 1 and seat.device == "cpu")


def _send(conn: Connection, kind: str, value: Any) -> None:
    conn.send_bytes(pickle.dumps((kind, value)))
