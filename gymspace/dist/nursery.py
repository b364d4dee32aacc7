"""The parent's handle on a process that imports the heavy libraries once and then forks the ranks.

The standard library's fork server would not do: it is one per program (one environment, one list of
modules), runs the program's main module again in its children, and lives on after the parent was
killed for as long as a child is busy.
"""

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from gymspace.dist.ranks import Seat

_CLOSING = 5.0


class Child:
    """A rank as the parent sees it: a pipe to talk, and a sentinel, readable when it has ended."""

    def __init__(
        self,
        conn: Connection,
        sentinel: Connection,
        server: "subprocess.Popen[bytes]",
        kill: Callable[[], None],
    ):
        self.conn, self.sentinel, self._server = conn, sentinel, server
        self.kill = kill  # the rank and whatever it started itself; returns at once

    @property
    def pipes(self) -> tuple[Connection, Connection]:
        """What becomes readable when the rank has something to say, or ends."""
        return self.conn, self.sentinel

    def ending(self) -> str:
        """How the rank ended; call it when the sentinel is readable."""
        try:
            code = self.sentinel.recv()
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(1)
            return "the process it was forked from ended"
        if isinstance(code, str):
            return code
        if code >= 0:
            return f"exit code {code}"
        return f"killed by signal {-code} ({signal.Signals(-code).name})"

    def close(self) -> None:
        """Let go of the pipes."""
        self.conn.close()
        self.sentinel.close()


class Nursery:
    """Makes ranks by `fork`; when it is closed, or this process dies, all of them die.

    ``folder`` is a scratch folder that goes with it.
    """

    def __init__(self, preload: Sequence[str], threads: int):
        self._preload, self._threads = tuple(preload), threads
        self.folder = Path(tempfile.mkdtemp(prefix="gymspace-"))
        self.output = self.folder / "nursery.txt"
        self._forks = 0
        self._launch()

    def _launch(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        arguments = f"{theirs.fileno()}, {os.getpid()}, {self._preload!r}, {str(self.folder)!r}"
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from gymspace.dist.forkserver import main; main({arguments})"
        )
        with theirs, self.output.open("ab") as output:
            self._server = subprocess.Popen(
                [sys.executable, "-c", program],
                env={**os.environ, **_environment(self._threads)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C on the terminal is the parent's business
            )

    def fork(self, seat: Seat) -> Child:
        """Ask for a new rank; it is on its way when this returns."""
        if self._server.poll() is not None:
            self._control.close()
            self._launch()
        self._forks += 1
        conn, their_conn = Pipe()
        sentinel, their_sentinel = Pipe(duplex=False)
        fds = [their_conn.fileno(), their_sentinel.fileno()]
        with their_conn, their_sentinel, suppress(OSError):
            socket.send_fds(self._control, [pickle.dumps((self._forks, seat))], fds)
        return Child(conn, sentinel, self._server, partial(self._kill, self._forks))

    def _kill(self, number: int) -> None:
        with suppress(OSError):
            self._control.send(pickle.dumps((number, None)))

    def close(self) -> None:
        """Kill all ranks and remove the scratch folder."""
        self._control.close()
        try:
            self._server.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _environment(threads: int) -> dict[str, str]:
    counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {**dict.fromkeys(counts, str(threads)), "OMP_WAIT_POLICY": "passive"}
