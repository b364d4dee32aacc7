"""The loop of every sweep: jobs from a source to the launcher, and what became of them back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gymspace.dist.jobs import Done, Event, Failed, Finished, Job, Outcome, Progress
from gymspace.records import RESULT, Run, Verdict, write_json
from gymspace.records import Progress as Epoch
from gymspace.spec import identity
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.plan import Trial

Result = dict[str, Any]


class Launcher(Protocol):
    """Where jobs run: as many at once as it has room for, each taken when there is room."""

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """Run ``jobs`` and tell what happens.

        ``None`` instead of a job: there is none right now, ask again once one has ended.
        """

    def answer(self, slot: int, verdict: Verdict) -> None:
        """Say ``verdict`` to the trial that runs in ``slot``."""


# Makes a launcher for trials of so many ranks on a kind of device.
Launch = Callable[[int, str], AbstractContextManager[Launcher]]


class Observer(Protocol):
    """Who is told how the sweep goes."""

    def planned(self, total: int, reused: Sequence[Result]) -> None:
        """So many trials, of which these results are there already."""

    def sought(self, total: int, settled: int) -> None:
        """A search is after so many designs, of which so many are settled by now."""

    def warned(self, text: str) -> None:
        """Something the user should know before the trials start."""

    def noted(self, text: str) -> None:
        """How long work before the trials gets on."""

    def happened(self, event: Event) -> None:
        """A trial started, finished an epoch, or ended."""


class Source(Protocol):
    """Where jobs come from, and who learns how they went."""

    def jobs(self) -> Iterator[Job | None]:
        """The jobs; ``None`` while the next one waits for the end of another."""

    def heard(self, job: Job, epoch: Epoch) -> Verdict | None:
        """Hear of an epoch of a running trial, and say what is to become of it, if anything."""

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Hear how a job ended."""

    def beat(self) -> None:
        """Told every few seconds, whatever happens."""


def drive(source: Source, launcher: Launcher, observer: Observer) -> None:
    """Run the jobs of ``source`` to the last one."""
    for event in launcher.run(source.jobs()):
        if isinstance(event, Progress) and isinstance(event.value, Epoch):
            if (verdict := source.heard(event.job, event.value)) is not None:
                launcher.answer(event.slot, verdict)
        elif isinstance(event, Finished):
            source.ended(event.job, event.outcome)
        observer.happened(event)
        source.beat()


def run_job(trial: Trial, folder: SweepFolder, heeds: bool = False) -> Job:
    """The job of running ``trial`` in its folder, which is made for it."""
    path = folder.begin(trial).absolute()
    return Job(trial.id, Run(trial.spec, path, trial.choices, heeds), trial.spec.trial.timeout)


def result_of(trial: Trial, outcome: Outcome, folder: SweepFolder) -> Result:
    """What rank 0 wrote, or a row that says why there is nothing."""
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed):
        why: Result = {
            "status": "failed",
            "error": outcome.error,
            "traceback": outcome.traceback,
        }
    else:
        error = f"took more than trial.timeout={outcome.seconds:g} s"
        why = {"status": "timeout", "error": error, "traceback": None}
    failure = {**identity(trial.spec), **why, "metric": trial.spec.metric, "best_epoch": None}
    write_json(folder.trial(trial.id) / RESULT, failure)
    return failure
