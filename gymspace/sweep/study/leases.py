"""Leases: which process runs a trial, and whether it is still there."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LEASE = 90.0  # seconds that a lease lasts without being renewed
RENEWAL = 10.0  # seconds between renewals
BARE = 60.0  # seconds that a trial may go without a lease, as its process has just begun it


@dataclass(frozen=True)
class Owner:
    """A process: its host, the system it counts process ids in, its id, and when it started.

    Two containers can have one host name; their ``system`` differs. ``started`` is in clock ticks
    since the system started, so it does not move with the clock.
    """

    host: str
    system: str
    pid: int
    started: int

    @classmethod
    def here(cls) -> "Owner":
        """This process."""
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        ids = Path("/proc/self/ns/pid").readlink()
        return cls(socket.gethostname(), f"{boot} {ids}", os.getpid(), _started(os.getpid()) or 0)


class Leases:
    """Gives leases to this process, and tells whether those of others are dead.

    On its own host it sees whether a process is there; of another host it believes that a lease
    which was not renewed for `LEASE` seconds (by the clocks of both) is that of a dead process.
    """

    def __init__(self, clock: Callable[[], float] = time.time, owner: Owner | None = None):
        self._clock = clock
        self._owner = owner or Owner.here()
        self._renewed = clock()
        self._bare: dict[int, float] = {}

    def lease(self) -> dict[str, Any]:
        """A lease from now on, as plain data."""
        return {**asdict(self._owner), "renewed": self._clock()}

    def due(self) -> bool:
        """Whether it is time to renew; the caller does so then."""
        now = self._clock()
        if now - self._renewed < RENEWAL:
            return False
        self._renewed = now
        return True

    def dead(self, number: int, lease: Mapping[str, Any] | None) -> bool:
        """Whether nobody runs the trial of that number any more."""
        now = self._clock()
        if lease is None:
            return now - self._bare.setdefault(number, now) > BARE
        own = self._owner
        if (lease["host"], lease["system"]) == (own.host, own.system):
            return _started(lease["pid"]) != lease["started"]
        return now - lease["renewed"] > LEASE


def _started(pid: int) -> int | None:
    """When a process started; None if it is gone, or killed and not yet buried."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])
