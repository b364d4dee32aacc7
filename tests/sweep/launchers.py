"""Launchers that need no processes: one that follows a script, one with a real worker inside."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gymspace.dist.jobs import Done, Event, Failed, Finished, Job, Outcome, Progress, Started
from gymspace.records import GO, HISTORY, RESULT, Facts, Inspect, Run, Verdict, write_json
from gymspace.records import Progress as Epoch
from gymspace.spec import TrialSpec, identity

MAX = {"accuracy": "max"}
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
    return Done(Facts(7, "one model for all", "1/1/1", (), MAX))


def apart(spec: TrialSpec) -> Outcome:
    """Every design is a model of its own."""
    return Done(Facts(7, repr(spec.model), "1/1/1", (), MAX))


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

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """One job after another, each taken when the one before is over."""
        for job in jobs:
            if job is None:
                return
            yield Started(0, job)
            yield Finished(0, job, self._outcome(job.payload))

    def answer(self, slot: int, verdict: Any) -> None:
        """No trial listens."""

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


class Room(Script):
    """Several slots whose trials take turns, an epoch each, and heed what is answered."""

    def __init__(self, slots: int = 2, run: Answer = done, inspect: Answer = apart):
        super().__init__(run, inspect)
        self._slots = slots
        self._busy: dict[int, tuple[Job, int]] = {}
        self._answers: dict[int, Verdict] = {}
        self.most = 0

    def answer(self, slot: int, verdict: Verdict) -> None:
        """The trial learns it after this epoch."""
        self._answers[slot] = verdict

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """Every free slot takes a job; then each trial does an epoch."""
        while True:
            for slot in set(range(self._slots)) - self._busy.keys():
                if (job := next(jobs, None)) is None:
                    break
                self._busy[slot] = (job, 0)
                yield Started(slot, job)
            self.most = max(self.most, len(self._busy))
            if not self._busy:
                return
            for slot in sorted(self._busy):
                yield from self._epoch(slot)

    def _epoch(self, slot: int) -> Iterator[Event]:
        job, epoch = self._busy[slot]
        run = job.payload
        if isinstance(run, Run) and epoch < (epochs := run.spec.train.epochs):
            self._busy[slot] = (job, epoch + 1)
            yield Progress(slot, job, Epoch(epoch, epochs, score(run.spec)))
            verdict = self._answers.pop(slot, GO)
            assert not run.heeds or verdict is not None
            if verdict.kind == "go" or epoch + 1 == epochs:
                return
            yield self._over(slot, self._cut(run, verdict, epoch + 1))
        else:
            yield self._over(slot, self._outcome(run))

    def _over(self, slot: int, outcome: Outcome) -> Finished:
        return Finished(slot, self._busy.pop(slot)[0], outcome)

    def _cut(self, run: Run, verdict: Verdict, epochs: int) -> Outcome:
        if verdict.kind == "checkpoint":
            (run.folder / "last.pt").touch()
            return Done({**result(run.spec, status="paused", epochs=epochs)})
        self.ran.append(run.spec)
        value = result(run.spec, status="pruned", error=verdict.reason, epochs=epochs)
        (run.folder / HISTORY).touch()
        write_json(run.folder / RESULT, value)
        return Done(value)


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
            return Done(self._worker(payload, lambda value, wait=False: None))
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

    def sought(self, total: int, settled: int) -> None:
        """Remember how many designs are settled."""
        self.total, self.settled = total, settled

    def warned(self, text: str) -> None:
        """Remember a warning."""
        self.warnings.append(text)

    def noted(self, text: str) -> None:
        """Remember a line of long work."""
        self.notes.append(text)

    def happened(self, event: Event) -> None:
        """Count an event."""
        self.events[type(event).__name__] += 1
