"""What is asked of a slot and what it tells: jobs, events and outcomes."""

from dataclasses import dataclass
from typing import Any, Literal


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


# What was asked for cannot be done; out of memory; the code raised an error; or no fault of the
# job's own that could be told: a rank died, did not get ready, or was not understood.
Kind = Literal["config", "memory", "error", "lost"]


@dataclass(frozen=True)
class Failed:
    """The failure that came first: one line, the details, and the key if it was a `ConfigError`.

    ``traceback`` is Python's, or the end of what the rank wrote if it died without one.
    """

    error: str
    traceback: str
    key: str | None = None
    kind: Kind = "error"

    @property
    def lasting(self) -> bool:
        """Whether the same job would fail again; a job whose rank was lost may well succeed."""
        return self.kind != "lost"


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


@dataclass(frozen=True)
class Tick:
    """So many seconds have passed, whatever else happened."""


Event = Started | Progress | Finished | Tick


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
    kind: Kind = "lost"
    died: bool = False
    clean: bool = False

    def failed(self, ranks: int) -> Failed:
        """The outcome of the job; a `ConfigError` is about what was asked, not about a rank."""
        named = self.died or ranks == 1 or self.key is not None
        error = self.error if named else f"rank {self.rank}: {self.error}"
        return Failed(error, self.traceback, self.key, self.kind)
