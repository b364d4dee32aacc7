"""One slot: ranks that do a job together, and what becomes of it when one of them fails."""

import pickle
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from gymspace.dist.jobs import (
    Done,
    Event,
    Failed,
    Fault,
    Finished,
    Job,
    Outcome,
    Progress,
    TimedOut,
)
from gymspace.dist.nursery import Child, Nursery
from gymspace.dist.ranks import ANSWER, JOB, Seat

# Seconds that a rank may take to get ready; that the others have to answer once one of them failed
# (they may be waiting for it in vain), and to finish once rank 0 did.
START, GRACE, LAG = 300.0, 3.0, 25.0
ATTEMPTS = 2
TAIL = 40


class StartError(RuntimeError):
    """A worker could not be made; the text is one line, ``failed`` has the whole story."""

    def __init__(self, worker: str, failed: Failed):
        super().__init__(f"{worker}: {failed.error}")
        self.failed = failed


class Slot:
    """Down, then starting, idle, busy, and idle or down again; `attend` moves it on."""

    def __init__(self, nursery: Nursery, seat: Seat, log: Path | None = None):
        """``seat`` is the pattern of all ranks' seats; what they print is kept in ``log``."""
        self.number = seat.slot
        self.job: Job | None = None
        self._nursery, self._seat, self._log = nursery, seat, log
        self._children: list[Child] = []
        self._heard: set[Connection] = set()  # pipes and sentinels with something still to come
        self._owing: set[int] = set()  # ranks that have not answered yet
        self._faults: list[Fault] = []
        self._value: Any = None
        self._limit = inf
        self._attempts = self._starts = 0

    @property
    def down(self) -> bool:
        """There are no ranks."""
        return not self._children

    @property
    def idle(self) -> bool:
        """The ranks wait for a job."""
        return self._whole and self.job is None and not self._owing

    @property
    def _whole(self) -> bool:
        pipes = {pipe for child in self._children for pipe in child.pipes}
        return bool(pipes) and pipes <= self._heard

    def start(self) -> None:
        """Fork the ranks; they are ready later."""
        self._attempts += 1
        self._starts += 1
        folder, name = self._nursery.folder, f"slot{self.number}"
        for rank in range(self._seat.ranks):
            store, output = folder / f"{name}-{self._starts}.store", folder / f"{name}-{rank}.txt"
            output.unlink(missing_ok=True)
            seat = replace(self._seat, rank=rank, store=str(store), output=str(output))
            self._children.append(self._nursery.fork(seat))
        self._heard = {pipe for child in self._children for pipe in child.pipes}
        self._await(START)

    def begin(self, job: Job) -> None:
        """Hand ``job`` to the idle ranks."""
        message = JOB + pickle.dumps(job.payload)
        self.job = job
        self._await(inf if job.timeout is None else job.timeout)
        for child in self._children:
            with suppress(OSError):  # it died just now, as its sentinel will tell
                child.conn.send_bytes(message)

    def answer(self, value: Any) -> None:
        """Say ``value`` to rank 0, whose job runs; once it is over nobody listens."""
        if self.job is not None:
            with suppress(OSError):
                self._children[0].conn.send_bytes(ANSWER + pickle.dumps(value))

    def _await(self, seconds: float) -> None:
        self._owing, self._faults, self._value = set(range(self._seat.ranks)), [], None
        self._limit = time.monotonic() + seconds

    def kill(self) -> None:
        """Kill the ranks and forget their job."""
        for child in self._children:
            child.kill()
            child.close()
        self._children, self._heard, self._owing, self.job = [], set(), set(), None
        (self._nursery.folder / f"slot{self.number}-{self._starts}.store").unlink(missing_ok=True)

    def sources(self) -> set[Connection]:
        """What to wait for: when one of these is readable, it is time to `attend`."""
        return self._heard

    @property
    def limit(self) -> float:
        """When to `attend` even if nothing was heard, on the clock of `time.monotonic`."""
        return self._limit if self._owing else inf

    def attend(self, readable: set[Connection]) -> Iterator[Event]:
        """Take in what the ranks sent, and end the job if it is over.

        Raises:
            StartError: the worker could not be made, also at a second attempt.
        """
        for rank, child in enumerate(self._children):
            if child.conn in readable or child.sentinel in readable:
                yield from self._listen(rank, child)
            if child.sentinel in readable and child.sentinel in self._heard:
                self._heard.discard(child.sentinel)
                self._bury(rank, child)
        if self.job is None:
            self._settle_start()
        elif (outcome := self._outcome(time.monotonic())) is not None:
            yield self._finish(self.job, outcome)

    def _listen(self, rank: int, child: Child) -> Iterator[Event]:
        while child.conn in self._heard and child.conn.poll():
            try:
                message = child.conn.recv_bytes()
            except (EOFError, OSError):
                # It is ending; should it only have closed its pipe, it ends now.
                self._heard.discard(child.conn)
                child.kill()
                return
            kind, value = self._read(rank, message)
            if kind == "progress" and self.job is not None:
                yield Progress(self.number, self.job, value)
            elif kind != "progress":
                self._answered(rank, kind, value)

    def _read(self, rank: int, message: bytes) -> tuple[str, Any]:
        try:
            return pickle.loads(message)
        except Exception as error:  # a class that only the ranks can import, for one
            text = f"what rank {rank} sent cannot be read here: {error!r}"
            return "failed", Fault(rank, time.monotonic(), text, text)

    def _answered(self, rank: int, kind: str, value: Any) -> None:
        self._owing.discard(rank)
        if kind == "failed":
            self._faults.append(value)
            self._hurry(GRACE)
        elif rank == 0 and self.job is not None:
            self._value = value
            self._hurry(LAG)

    def _bury(self, rank: int, child: Child) -> None:
        """Note a death; one after the rank's answer costs the slot, but not the job."""
        starting = self.job is None and self._owing
        if rank in self._owing or starting:
            error = f"rank {rank} died: {child.ending()}"
            fault = Fault(rank, time.monotonic(), error, self._tail(rank), died=True)
            self._answered(rank, "failed", fault)
        elif self.job is None:
            self.kill()

    def _hurry(self, seconds: float) -> None:
        self._limit = min(self._limit, time.monotonic() + seconds)

    def _settle_start(self) -> None:
        if self._owing and time.monotonic() >= self._limit and not self._faults:
            text = f"rank {min(self._owing)} was not ready after {START:.0f} s"
            self._faults.append(Fault(min(self._owing), time.monotonic(), text, text))
        if self._faults:
            failed = self._first_fault().failed(self._seat.ranks)
            self.kill()
            if self._attempts >= ATTEMPTS:
                raise StartError(self._seat.worker, failed)
        elif self._children and not self._owing:
            self._attempts = 0

    def _outcome(self, now: float) -> Outcome | None:
        assert self.job is not None
        if self._owing and now < self._limit:
            return None
        if self._faults:
            return self._first_fault().failed(self._seat.ranks)
        if 0 in self._owing:
            return TimedOut(self.job.timeout or 0.0)
        return Done(self._value)

    def _first_fault(self) -> Fault:
        """What failed first; but when a rank dies, the errors of the others are its doing."""
        return min(self._faults, key=lambda fault: (not fault.died, fault.when))

    def _finish(self, job: Job, outcome: Outcome) -> Finished:
        if self._log is not None:
            self._keep_output(self._log, job)
        clean = all(fault.clean for fault in self._faults)
        if self._owing or not self._whole or not clean:
            self.kill()
        self.job, self._faults, self._value = None, [], None
        return Finished(self.number, job, outcome)

    def _output(self, rank: int) -> str:
        with suppress(OSError):
            path = self._nursery.folder / f"slot{self.number}-{rank}.txt"
            return path.read_text(errors="backslashreplace")
        return ""

    def _tail(self, rank: int) -> str:
        text = self._output(rank)
        if self.job is None:
            text = self._nursery.output.read_text(errors="backslashreplace") + text
        return "\n".join(text.splitlines()[-TAIL:])

    def _keep_output(self, log: Path, job: Job) -> None:
        for rank in range(self._seat.ranks):
            if text := self._output(rank):
                with log.open("a", encoding="utf-8") as file:
                    file.write(f"--- job {job.id}, slot {self.number}, rank {rank}\n{text}\n")
