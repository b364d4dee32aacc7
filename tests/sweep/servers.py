"""Servers for tests, on the loopback only: PostgreSQL from Debian's binaries, Optuna's proxy."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
PROXY = """
import sys, warnings
warnings.simplefilter("ignore")
from optuna.storages import run_grpc_proxy_server
from gymspace.sweep.study.storage import connect
run_grpc_proxy_server(connect(sys.argv[1]).backend, host="127.0.0.1", port=int(sys.argv[2]))
"""


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a new, empty PostgreSQL server, which is gone afterwards.

    It does not run as root, so it has a folder that another user may enter.
    """
    folder, port = Path(tempfile.mkdtemp(prefix="gymspace-postgresql-")), free_port()
    data, binaries = folder / "data", BINARIES[-1].parent
    unprivileged = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    prefix = unprivileged if os.geteuid() == 0 else []
    if prefix:
        shutil.chown(folder, "postgres", "postgres")
    try:
        init = [str(binaries / "initdb"), "-D", str(data), "-U", "tests", "-A", "trust", "-N"]
        subprocess.run([*prefix, *init], check=True, capture_output=True, cwd="/")
        quick = ["-F", "-c", "unix_socket_directories=", "-h", "127.0.0.1", "-p", str(port)]
        server = [*prefix, str(binaries / "postgres"), "-D", str(data), *quick]
        with running(server, port):
            url = f"postgresql://tests@127.0.0.1:{port}/postgres"
            await_answer(url)  # it listens before it is ready
            yield url
    finally:
        shutil.rmtree(folder)


def database(server: str, name: str) -> str:
    """The URL of a new database on a server."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.rpartition("/")[0] + f"/{name}"


@contextmanager
def proxy(storage: str) -> Iterator[str]:
    """The URL of a gRPC proxy in front of a storage."""
    port = free_port()
    with running([sys.executable, "-c", PROXY, storage, str(port)], port):
        yield f"grpc://127.0.0.1:{port}"


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A server, from when it listens until it is told to stop."""
    server = subprocess.Popen(command, cwd="/", stderr=subprocess.DEVNULL, env=environment())
    try:
        await_port(server, port)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # PostgreSQL: without waiting for its clients
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            raise


def environment() -> dict[str, str]:
    """The environment of a process that imports this checkout from anywhere."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def await_answer(url: str) -> None:
    """Wait until a PostgreSQL server that listens takes a connection."""
    for _ in range(600):
        with suppress(psycopg.OperationalError), psycopg.connect(url):
            return
        time.sleep(0.05)
    raise AssertionError(f"{url} does not answer")


def await_port(server: subprocess.Popen, port: int) -> None:
    """Wait until somebody listens, for as long as the server lives."""
    for _ in range(600):
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, f"{server.args} ended"
        time.sleep(0.05)
    raise AssertionError(f"{server.args} does not listen")
