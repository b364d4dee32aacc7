"""Limits of a sweep's time: after that no trial starts, and those that run end or are put away."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf

from gymspace.dist.jobs import Job, Outcome
from gymspace.records import Progress as Epoch
from gymspace.records import Verdict
from gymspace.sweep.loop import Source


@dataclass(frozen=True)
class Limits:
    """``hours`` for all trials of one command; ``at_end`` as in ``sweep.at_end``."""

    hours: float | None = None
    at_end: str = "finish"

    def start(self, clock: Callable[[], float] = time.monotonic) -> "Clock":
        """Begin to count."""
        return Clock(self, clock)


FOREVER = Limits()


class Clock:
    """Time that runs out."""

    def __init__(self, limits: Limits, clock: Callable[[], float]):
        self._now, self._put_away = clock, limits.at_end == "checkpoint"
        self._end = clock() + (inf if limits.hours is None else 3600 * limits.hours)
        self._verdict = Verdict("checkpoint", f"sweep.hours={limits.hours} are over")

    @property
    def over(self) -> bool:
        """No time is left."""
        return self._now() >= self._end

    @property
    def verdict(self) -> Verdict | None:
        """What becomes of a trial that runs now."""
        return self._verdict if self._put_away and self.over else None

    def limited(self, source: Source) -> "Limited":
        """``source`` as long as there is time."""
        return Limited(source, self)


class Limited:
    """A source that ends when the time is over."""

    def __init__(self, source: Source, clock: Clock):
        self._source, self._clock = source, clock

    def jobs(self) -> Iterator[Job | None]:
        """The source's, until the time is over."""
        jobs = self._source.jobs()
        while not self._clock.over:
            try:
                job = next(jobs)
            except StopIteration:
                return
            yield job

    def heard(self, job: Job, epoch: Epoch) -> Verdict | None:
        """The source's word first, unless it is to go on."""
        verdict = self._source.heard(job, epoch)
        if verdict is not None and verdict.kind != "go":
            return verdict
        return self._clock.verdict or verdict

    def ended(self, job: Job, outcome: Outcome) -> None:
        """The source hears it."""
        self._source.ended(job, outcome)

    def beat(self) -> None:
        """The source's."""
        self._source.beat()
