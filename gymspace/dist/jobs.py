"""What is asked of a slot and what it tells: jobs, events and outcomes."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """One call of a worker: a picklable ``payload``, and the seconds it may take (None: any)."""

    id: str
    payload: Any
    timeout: float | None = None


@dataclass(frozen=True)
class Done:
    """The value that rank 0 returned."""

    value: Any


@dataclass(frozen=True)
class Failed:
    """The failure that came first: one line, the details, and the key if it was a `ConfigError`.

    ``traceback`` is Python's, or the end of what the rank wrote if it died without one.
    """

    error: str
    traceback: str
    key: str | None = None


@dataclass(frozen=True)
class TimedOut:
    """The job was killed after its ``seconds``."""

    seconds: float


Outcome = Done | Failed | TimedOut


@dataclass(frozen=True)
class Started:
    """A job was handed to a slot."""

    slot: int
    job: Job


@dataclass(frozen=True)
class Progress:
    """Rank 0 reported ``value`` while its job runs."""

    slot: int
    job: Job
    value: Any


@dataclass(frozen=True)
class Finished:
    """A job ended, one way or another."""

    slot: int
    job: Job
    outcome: Outcome


Event = Started | Progress | Finished


@dataclass(frozen=True)
class Fault:
    """What went wrong in one rank; ``when`` is `time.monotonic`, the same clock for all ranks.

    ``clean`` says that the rank may be used again.
    """

    rank: int
    when: float
    error: str
    traceback: str
    key: str | None = None
    died: bool = False
    clean: bool = False

    def failed(self, ranks: int) -> Failed:
        """The outcome of the job; a `ConfigError` is about what was asked, not about a rank."""
        named = self.died or ranks == 1 or self.key is not None
        return Failed(
            self.error if named else f"rank {self.rank}: {self.error}", self.traceback, self.key
        )
