"""The nursery's own program: imports the heavy libraries once, then forks ranks on request."""

import ctypes
import gc
import importlib
import os
import pickle
import shutil
import signal
import socket
import traceback
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import NoReturn

from gymspace.dist.ranks import Seat, serve

_PR_SET_PDEATHSIG = 1
_MESSAGE = 1 << 16
_LOOK_UP = 5.0


def main(fd: int, parent: int, preload: Sequence[str], folder: str) -> NoReturn:
    """Import, then fork and kill as told through the socket ``fd`` until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    for name in preload:
        # A module that cannot be imported is told by the rank that needs it.
        with suppress(Exception):
            importlib.import_module(name)
    # The signal would come with the end of the parent's *thread* that started this process; from
    # here on the closed socket tells the end of the parent.
    _death_signal(0)
    gc.collect()
    gc.freeze()
    server, code = _Server(socket.socket(fileno=fd), parent), 0
    try:
        server.run()
    except BaseException:
        traceback.print_exc()
        code = 1
    server.kill_all()
    if code == 0:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(code)


class _Server:
    """Forks on request, and passes on the exit codes."""

    def __init__(self, control: socket.socket, parent: int):
        self._control, self._parent = control, parent
        self._woken, self._wake = socket.socketpair()
        self._pids: dict[int, int] = {}
        self._sentinels: dict[int, Connection] = {}

    def run(self) -> None:
        """Serve until the parent closes the control socket, or ends."""
        self._wake.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready = wait([self._control, self._woken], _LOOK_UP)
            if self._woken in ready:
                self._woken.recv(_MESSAGE)
                self._reap()
            if self._control in ready and not self._obey():
                return
            if os.getppid() != self._parent:  # its socket may live on in a process it forked
                return

    def _obey(self) -> bool:
        message, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, 2)
        if not message:
            return False
        number, seat = pickle.loads(message)
        if seat is None:
            _kill_group(self._pids.get(number))
        else:
            self._fork(number, seat, *fds)
        return True

    def _fork(self, number: int, seat: Seat, conn: int, sentinel: int) -> None:
        here = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            Connection(sentinel, readable=False).send(f"could not be forked: {error}")
            os.close(conn)
            return
        if pid == 0:
            try:
                os.setpgid(0, 0)
                _die_with(here)
                self._forget(sentinel)
                serve(Connection(conn), seat)
            finally:
                os._exit(1)
        with suppress(OSError):
            os.setpgid(pid, pid)
        os.close(conn)
        self._pids[number] = pid
        self._sentinels[pid] = Connection(sentinel, readable=False)

    def _forget(self, sentinel: int) -> None:
        """In a new rank: let go of what is its parent's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(sentinel)
        for end in (self._control, self._woken, self._wake):
            end.close()
        for other in self._sentinels.values():
            other.close()

    def _reap(self) -> None:
        peek = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, peek):
                pid = found.si_pid
                if pid in self._sentinels:
                    # Not reaped yet, so the number still is this group's and nobody else's.
                    _kill_group(pid)
                _, status = os.waitpid(pid, 0)
                self._tell(pid, os.waitstatus_to_exitcode(status))

    def _tell(self, pid: int, code: int) -> None:
        sentinel = self._sentinels.pop(pid, None)
        self._pids = {number: p for number, p in self._pids.items() if p != pid}
        if sentinel is not None:
            with sentinel, suppress(OSError):
                sentinel.send(code)

    def kill_all(self) -> None:
        """Kill every rank with all that it started, and wait until they are gone."""
        for pid in self._sentinels:
            _kill_group(pid)
        for pid in self._sentinels:
            with suppress(OSError):
                os.waitpid(pid, 0)


def _kill_group(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends; it may have ended just before."""
    _death_signal(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _death_signal(number: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))
