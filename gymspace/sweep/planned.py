"""A sweep whose trials are known beforehand: what is finished is reused, the rest is run."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gymspace.dist.jobs import Job, Outcome
from gymspace.errors import ConfigError
from gymspace.records import Facts, Verdict
from gymspace.records import Progress as Epoch
from gymspace.sweep.check import check
from gymspace.sweep.draws.draw import Draw
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.limits import FOREVER, Limits
from gymspace.sweep.loop import Launch, Observer, Result, drive, result_of, run_job
from gymspace.sweep.plan import Trial

if TYPE_CHECKING:
    from gymspace.sweep.spaces.constraints import Constraint


@dataclass(frozen=True)
class Sweep:
    """The trials of a sweep, its draw and its folder; ``stale`` and ``retry`` as in the settings.

    ``about`` is what the folder says of the sweep once its designs are found to be sound;
    ``constraints`` are those that only a built design can be held against.
    """

    trials: Sequence[Trial]
    draw: Draw
    folder: SweepFolder
    about: Mapping[str, Any]
    stale: str = "error"
    retry: str = "missing"
    constraints: Sequence["Constraint"] = ()
    limits: Limits = FOREVER


class Planned:
    """The source of trials that are known beforehand."""

    def __init__(
        self,
        trials: Sequence[Trial],
        folder: SweepFolder,
        tell: Callable[[Trial, Result], None],
    ):
        self._trials = {trial.id: trial for trial in trials}
        self._folder, self._tell = folder, tell

    def jobs(self) -> Iterator[Job]:
        """The trials in their order."""
        return (run_job(trial, self._folder) for trial in self._trials.values())

    def heard(self, job: Job, epoch: Epoch) -> Verdict | None:
        """Every trial goes its way."""
        return None

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Tell the result, if there is one: a trial put away has none yet."""
        trial = self._trials[job.id]
        result = result_of(trial, outcome, self._folder)
        if result["status"] != "paused":
            self._tell(trial, result)

    def beat(self) -> None:
        """Nothing to keep alive."""


def run_sweep(sweep: Sweep, launch: Launch, observer: Observer) -> tuple[list[Result], int]:
    """Run what is missing of ``sweep``; the results in the order of its trials, and how many lack.

    There was no time for these; of trials that no constraint allows there is nothing to tell.

    Raises:
        ConfigError: a design that cannot be built, before the first trial starts.
    """
    results = reusable(sweep)
    missing = [trial for trial in sweep.trials if trial.id not in results]
    with ExitStack() as open_launchers:
        launchers = {p: open_launchers.enter_context(launch(*p)) for p in _by_place(missing)}
        facts = check(missing, next(iter(launchers.values())), observer) if launchers else {}
        trials = allowed(sweep, results, facts, observer)
        sweep.folder.describe(sweep.about)
        kept = {trial.id for trial in trials}
        reused = [result for id, result in results.items() if id in kept]
        observer.planned(len(trials), reused)

        def tell(trial: Trial, result: Result) -> None:
            results[trial.id] = result
            sweep.draw.tell(trial.choices, result)

        clock = sweep.limits.start()
        for place, group in _by_place([t for t in trials if t.id not in results]).items():
            source = clock.limited(Planned(group, sweep.folder, tell))
            drive(source, launchers[place], observer)
    there = [results[trial.id] for trial in trials if trial.id in results]
    return there, len(trials) - len(there)


def _by_place(trials: Sequence[Trial]) -> dict[tuple[int, str], list[Trial]]:
    """Trials by their ranks and device: one launcher is for one of these."""
    places: dict[tuple[int, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        places[trial.spec.dist.ranks, trial.spec.device].append(trial)
    return places


def reusable(sweep: Sweep) -> dict[str, Result]:
    """Final results by trial id, without those to run again: their code changed, or as asked."""
    results = {t.id: r for t in sweep.trials if (r := sweep.folder.result(t)) is not None}
    if sweep.retry == "failed":
        results = {id: r for id, r in results.items() if r["status"] != "diverged"}
    if sweep.stale == "keep":
        return results
    outdated = [t for t in sweep.trials if t.id in results and sweep.folder.outdated(t)]
    if outdated and sweep.stale == "error":
        code = ", ".join(sorted(outdated[0].code)) or "user code"
        problem = f"{len(outdated)} finished trials were run with another version of {code}"
        raise ConfigError("sweep.stale", problem, value="error", choices=("keep", "rerun"))
    return {id: r for id, r in results.items() if id not in {t.id for t in outdated}}


def allowed(
    sweep: Sweep, results: Mapping[str, Result], facts: Mapping[str, Facts], observer: Observer
) -> list[Trial]:
    """The trials of those designs that the constraints allow, now that their size is known."""
    if not sweep.constraints:
        return list(sweep.trials)
    known: dict[tuple[str, str], int | None] = {}
    for trial in sweep.trials:
        if trial.id in facts:
            known[trial.design] = facts[trial.id].params
        elif trial.id in results:
            known.setdefault(trial.design, results[trial.id].get("params"))
    kept = [
        trial
        for trial in sweep.trials
        if all(
            c.holds(trial.spec.model_dump(mode="json"), known.get(trial.design))
            for c in sweep.constraints
        )
    ]
    if dropped := len({t.design for t in sweep.trials}) - len({t.design for t in kept}):
        texts = ", ".join(constraint.text for constraint in sweep.constraints)
        observer.noted(f"{dropped} of {len({t.design for t in sweep.trials})} designs: not {texts}")
    if not kept:
        raise ConfigError("sweep.constraints", "no design of the space meets them")
    return kept
