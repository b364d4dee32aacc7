"""The sweep loop: what is finished is reused, the rest is checked, then run; failures are rows."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from gymspace.dist.jobs import Done, Event, Failed, Finished, Job, Outcome, Progress
from gymspace.errors import ConfigError
from gymspace.records import RESULT, Facts, Inspect, Run, write_json
from gymspace.spec import identity
from gymspace.sweep.draw import Draw
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.plan import Trial, idle_keys

log = logging.getLogger(__name__)


class Launcher(Protocol):
    """Where jobs run: as many at once as it has room for, each taken when there is room."""

    def run(self, jobs: Iterator[Job]) -> Iterator[Event]:
        """Run ``jobs`` and tell what happens."""


# Makes a launcher for trials of so many ranks on a kind of device.
Launch = Callable[[int, str], AbstractContextManager[Launcher]]


class Observer(Protocol):
    """Who is told how the sweep goes."""

    def planned(self, total: int, reused: Sequence[dict[str, Any]]) -> None:
        """So many trials, of which these results are there already."""

    def warned(self, text: str) -> None:
        """Something the user should know before the trials start."""

    def noted(self, text: str) -> None:
        """How long work before the trials gets on."""

    def happened(self, event: Event) -> None:
        """A trial started, finished an epoch, or ended."""


@dataclass(frozen=True)
class Sweep:
    """The trials of a sweep, its draw and its folder; ``stale`` as in ``sweep.stale``.

    ``about`` is what the folder says of the sweep once its designs are found to be sound.
    """

    trials: Sequence[Trial]
    draw: Draw
    folder: SweepFolder
    about: Mapping[str, Any]
    stale: str = "error"


def run_sweep(sweep: Sweep, launch: Launch, observer: Observer) -> list[dict[str, Any]]:
    """Run what is missing of ``sweep`` and return the results of all its trials, in their order.

    Raises:
        ConfigError: a design that cannot be built, before the first trial starts.
    """
    results = reusable(sweep)
    reused = list(results.values())
    pending: dict[tuple[int, str], list[Trial]] = defaultdict(list)
    for trial in sweep.trials:
        if trial.id not in results:
            pending[trial.spec.dist.ranks, trial.spec.device].append(trial)
    with ExitStack() as open_launchers:
        launchers = {place: open_launchers.enter_context(launch(*place)) for place in pending}
        for launcher in list(launchers.values())[:1]:
            check([trial for group in pending.values() for trial in group], launcher, observer)
        sweep.folder.describe(sweep.about)
        observer.planned(len(sweep.trials), reused)
        for place, group in pending.items():
            for trial, result in run_trials(group, sweep.folder, launchers[place], observer):
                results[trial.id] = result
                sweep.draw.tell(trial.choices, result)
    return [results[trial.id] for trial in sweep.trials]


def reusable(sweep: Sweep) -> dict[str, dict[str, Any]]:
    """Final results by trial id, without those to run again because their code changed."""
    results = {t.id: r for t in sweep.trials if (r := sweep.folder.result(t)) is not None}
    if sweep.stale == "keep":
        return results
    outdated = [t for t in sweep.trials if t.id in results and sweep.folder.outdated(t)]
    if outdated and sweep.stale == "error":
        code = ", ".join(sorted(outdated[0].code)) or "user code"
        problem = f"{len(outdated)} finished trials were run with another version of {code}"
        raise ConfigError("sweep.stale", problem, value="error", choices=("keep", "rerun"))
    return {id: r for id, r in results.items() if id not in {t.id for t in outdated}}


def check(trials: Sequence[Trial], launcher: Launcher, observer: Observer) -> None:
    """Build every design once, and on every fold one, without training any of them.

    Swept keys that change nothing are warned of.

    Raises:
        ConfigError: a design that cannot be built.
    """
    firsts: dict[tuple[str, str | int], Trial] = {}
    for trial in reversed(trials):
        firsts[trial.design] = firsts[trial.design[0], trial.spec.fold] = trial
    unique = {trial.id: trial for trial in reversed(firsts.values())}
    jobs = (Job(id, Inspect(trial.spec), trial.spec.trial.timeout) for id, trial in unique.items())
    built: dict[str, str] = {}
    warnings: dict[str, None] = {}
    for event in launcher.run(jobs):
        if isinstance(event, Progress):
            observer.noted(event.value)
        elif isinstance(event, Finished):
            facts = _facts(event.outcome)
            built[event.job.id] = facts.architecture
            warnings |= dict.fromkeys(facts.warnings)
    idle = idle_keys(built, trials)
    for text in warnings:
        if text.partition(" ")[0] not in {key for key, _, _ in idle}:  # else it is told below
            observer.warned(text)
    for key, layer, always in idle:
        where = "" if always else "in some designs "
        observer.warned(f"{key} is swept, but changes nothing {where}with model.layer={layer}")


def _facts(outcome: Outcome) -> Facts:
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed) and outcome.key is not None:
        raise _told(outcome)
    problem = outcome.error if isinstance(outcome, Failed) else "it took more than trial.timeout"
    raise ConfigError("model", f"cannot be built: {problem}")


def _told(failure: Failed) -> ConfigError:
    """The `ConfigError` that a rank raised, told again here."""
    error = ConfigError(failure.key or "", "")
    error.args = (failure.error,)
    return error


def run_trials(
    trials: Sequence[Trial], folder: SweepFolder, launcher: Launcher, observer: Observer
) -> Iterator[tuple[Trial, dict[str, Any]]]:
    """Run ``trials``, yielding each with its result as it ends."""
    by_id = {trial.id: trial for trial in trials}
    jobs = (
        Job(t.id, Run(t.spec, folder.begin(t).absolute(), t.choices), t.spec.trial.timeout)
        for t in trials
    )
    for event in launcher.run(jobs):
        observer.happened(event)
        if isinstance(event, Finished):
            trial = by_id[event.job.id]
            yield trial, _result(trial, event.outcome, folder)


def _result(trial: Trial, outcome: Outcome, folder: SweepFolder) -> dict[str, Any]:
    """What rank 0 wrote, or a row that says why there is nothing."""
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed):
        why: dict[str, Any] = {
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
