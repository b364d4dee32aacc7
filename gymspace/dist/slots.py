"""Warm rank slots: a fixed number of groups of ranks that take jobs as they become free."""

import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from gymspace.dist.jobs import (
    Done,
    Event,
    Failed,
    Finished,
    Job,
    Outcome,
    Progress,
    Started,
    Tick,
    TimedOut,
)
from gymspace.dist.nursery import Nursery
from gymspace.dist.ranks import Seat
from gymspace.dist.slot import Slot, StartError

__all__ = [
    "Done",
    "Event",
    "Failed",
    "Finished",
    "Job",
    "Outcome",
    "Progress",
    "Slots",
    "StartError",
    "Started",
    "Tick",
    "TimedOut",
    "terminate_as_interrupt",
]


class Slots:
    """Processes that stay warm from job to job; a context manager that leaves none behind.

    Each of ``slots`` is a group of ``ranks`` processes, with a process group if they are several.
    A rank makes ``handler = Worker(rank, ranks)`` once, and then calls ``handler(payload, report)``
    per job. What rank 0 returns is the outcome, what it reports is `Progress`, to which the caller
    may `answer`.
    """

    def __init__(
        self,
        worker: str,
        slots: int,
        ranks: int,
        *,
        threads: int = 1,
        device: str = "cpu",
        preload: Sequence[str] = (),
        log: Path | None = None,
        tick: float | None = None,
    ):
        """Begin to start the processes, and return at once.

        ``worker`` is the `module:attr` of the worker's class; its module and those of ``preload``
        are imported once and shared by all ranks. Each rank computes with ``threads`` threads. What
        ranks print is appended to the file ``log`` after each job, or is dropped. There is a `Tick`
        every ``tick`` seconds, or none.
        """
        module, _, attribute = worker.partition(":")
        if not attribute or min(slots, ranks, threads) < 1:
            raise ValueError(f"Slots({worker=}, {slots=}, {ranks=}, {threads=})")
        self._nursery = Nursery((*preload, module), threads)
        seats = (Seat(worker, slot, 0, ranks, threads, device, "", "") for slot in range(slots))
        self._slots = [Slot(self._nursery, seat, log) for seat in seats]
        self._tick = inf if tick is None else tick
        self._running = False
        for slot in self._slots:
            slot.start()

    def __enter__(self) -> "Slots":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def run(self, jobs: Iterable[Job | None]) -> Iterator[Event]:
        """Do ``jobs``, each taken from the iterable when a slot is free, and tell how it goes.

        Whatever `Finished` told is handled by the caller before the next job is asked for. ``None``
        instead of a job says that there is none right now: one is asked for again after the next
        `Finished` or `Tick`, but if nothing runs it is over. Jobs that still run when the iterator
        is closed are killed.

        Raises:
            StartError: a worker could not be made.
        """
        if self._running:
            raise RuntimeError("these slots are running other jobs")
        self._running = True
        try:
            yield from self._run(iter(jobs))
        finally:
            self._running = False
            for slot in self._slots:
                if slot.job is not None:
                    slot.kill()

    def answer(self, slot: int, value: Any) -> None:
        """Say ``value`` to the worker whose job runs in ``slot``, when it asks or next reports."""
        self._slots[slot].answer(value)

    def _run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        more = asking = True
        due = time.monotonic() + self._tick
        yield from self._attend(0.0)  # ranks may have died since the last run
        while True:
            for slot in self._slots:
                if more and slot.down:
                    slot.start()
                if more and asking and slot.idle:
                    try:
                        job = next(jobs)
                    except StopIteration:
                        job, more = None, False
                    asking = job is not None
                    if job is not None:
                        slot.begin(job)
                        yield Started(slot.number, job)
            if not (more and asking) and all(slot.job is None for slot in self._slots):
                return
            for event in self._attend(due - time.monotonic()):
                asking = asking or isinstance(event, Finished)
                yield event
            if time.monotonic() >= due:
                due, asking = time.monotonic() + self._tick, True
                yield Tick()

    def _attend(self, seconds: float) -> Iterator[Event]:
        """Wait for at most ``seconds`` until a slot has something to tell, and tell it."""
        limit = min(slot.limit for slot in self._slots)
        seconds = max(0.0, min(seconds, limit - time.monotonic()))
        sources = set().union(*(slot.sources() for slot in self._slots))
        readable: set[Any] = set(wait(sources, None if seconds == inf else seconds))
        for slot in self._slots:
            yield from slot.attend(readable)

    def close(self) -> None:
        """End all processes; jobs that run are killed."""
        self._nursery.close()
        for slot in self._slots:
            slot.kill()


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Let SIGTERM raise `KeyboardInterrupt` in the main thread; a second one is ignored.

    So what is open gets closed on the way out, as after Ctrl-C.
    """

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt("terminated")

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
