"""Launchers that need no processes: one that follows a script, one with a real worker inside."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gymspace.dist.jobs import Done, Event, Failed, Finished, Job, Outcome, Started
from gymspace.records import HISTORY, RESULT, Facts, Inspect, Run, write_json
from gymspace.spec import TrialSpec, identity

Answer = Callable[[TrialSpec], Outcome]


def score(spec: TrialSpec) -> float:
    """A validation score that depends on the design and the seed."""
    return 1 / (1 + spec.model.layers_mp + spec.seed)


def result(spec: TrialSpec, **more: Any) -> dict[str, Any]:
    """The result of a finished trial."""
    scores = {
        f"{split}_{name}": score(spec)
        for split in ("train", "val", "test")
        for name in ("loss", "accuracy")
    }
    rest = {"metric": "accuracy", "direction": "max", "best_epoch": 0, "epochs": 1, "params": 7}
    rest |= {"seconds": 0.5, "split": "1/1/1", "traceback": None, "error": None}
    return {**identity(spec), "status": "done", **rest, **scores, **more}


def done(spec: TrialSpec) -> Outcome:
    """Every trial finishes."""
    return Done(result(spec))


def alike(spec: TrialSpec) -> Outcome:
    """Every design is built alike."""
    return Done(Facts(7, "one model for all", "1/1/1"))


def apart(spec: TrialSpec) -> Outcome:
    """Every design is a model of its own."""
    return Done(Facts(7, repr(spec.model), "1/1/1"))


class Script:
    """Answers inspections by ``inspect`` and trials by ``run``; writes what rank 0 would."""

    def __init__(self, run: Answer = done, inspect: Answer = apart):
        self._run, self._inspect = run, inspect
        self.places: list[tuple[int, str]] = []
        self.inspected: list[TrialSpec] = []
        self.ran: list[TrialSpec] = []

    @contextmanager
    def __call__(self, ranks: int, device: str) -> Iterator["Script"]:
        self.places.append((ranks, device))
        yield self

    def run(self, jobs: Iterator[Job]) -> Iterator[Event]:
        """One job after another, each taken when the one before is over."""
        for job in jobs:
            yield Started(0, job)
            yield Finished(0, job, self._outcome(job.payload))

    def _outcome(self, payload: Inspect | Run) -> Outcome:
        if isinstance(payload, Inspect):
            self.inspected.append(payload.spec)
            return self._inspect(payload.spec)
        self.ran.append(payload.spec)
        assert not (payload.folder / RESULT).exists()
        outcome = self._run(payload.spec)
        if isinstance(outcome, Done):
            (payload.folder / HISTORY).touch()
            write_json(payload.folder / RESULT, outcome.value)
        return outcome


class Inside(Script):
    """Has the real worker of a single rank in this process; by default only to look at designs."""

    def __init__(self, trains: bool = False):
        super().__init__()
        self._trains = trains

    @contextmanager
    def __call__(self, ranks: int, device: str) -> Iterator["Inside"]:
        import torch

        from gymspace.training.worker import Worker

        assert ranks == 1
        self._worker = Worker(0, 1)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with super().__call__(ranks, device):
                yield self
        finally:
            torch.set_num_threads(threads)

    def _outcome(self, payload: Inspect | Run) -> Outcome:
        if isinstance(payload, Run) and not self._trains:
            return super()._outcome(payload)
        (self.inspected if isinstance(payload, Inspect) else self.ran).append(payload.spec)
        try:
            return Done(self._worker(payload, lambda value: None))
        except Exception as error:
            return Failed(str(error), "", getattr(error, "key", None))


class Watch:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.total, self.reused = 0, 0
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.events: Counter[str] = Counter()

    def planned(self, total: int, reused: Any) -> None:
        """Remember how many trials there are."""
        self.total, self.reused = total, len(reused)

    def warned(self, text: str) -> None:
        """Remember a warning."""
        self.warnings.append(text)

    def noted(self, text: str) -> None:
        """Remember a line of long work."""
        self.notes.append(text)

    def happened(self, event: Event) -> None:
        """Count an event."""
        self.events[type(event).__name__] += 1
