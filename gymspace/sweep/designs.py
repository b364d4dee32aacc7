"""The designs of a search as a source of jobs: the next repeat of one, or else a new one."""

import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymspace.dist.jobs import Failed, Job, Outcome
from gymspace.errors import ConfigError
from gymspace.records import GO, Inspect, Verdict
from gymspace.records import Progress as Epoch
from gymspace.sweep.check import facts_of, inspect_job
from gymspace.sweep.design import Design
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.loop import Observer, Result, result_of, run_job
from gymspace.sweep.objectives import Objective
from gymspace.sweep.plan import Designer, Trial
from gymspace.sweep.spaces.constraints import Constraint
from gymspace.sweep.spaces.space import Assignment
from gymspace.sweep.study.proposals import FAULT, Proposal

if TYPE_CHECKING:
    from gymspace.sweep.study.study import Study

_ATTEMPTS = 2  # of a trial whose ranks were lost
_LOOK = 10.0  # seconds between two looks for designs of dead processes


@dataclass(frozen=True)
class Rules:
    """What a search goes by: how many designs, what is good, what is allowed.

    With ``any_code`` it takes results that another version of the user's code led to.
    """

    n_trials: int
    goals: Sequence[Objective]
    constraints: Sequence[Constraint] = ()
    any_code: bool = False

    @property
    def sizes(self) -> bool:
        """Whether a design has to be built to tell if it is allowed."""
        return any(constraint.needs_params for constraint in self.constraints)

    def allow(self, trial: Trial, params: int | None = None) -> bool:
        """Whether the design of ``trial`` is allowed, as far as is known."""
        config = trial.spec.model_dump(mode="json") if self.constraints else {}
        return all(constraint.holds(config, params) for constraint in self.constraints)


class Designs:
    """Asks the study for designs and tells it what became of them; repeats run one by one.

    A design is over before its last repeat if it is hopeless, or fails in a way that lasts.
    """

    def __init__(
        self,
        study: "Study",
        designer: Designer,
        rules: Rules,
        folder: SweepFolder,
        observer: Observer,
    ):
        self.statuses: Counter[str] = Counter()  # of the trials that ended here
        self.exhausted = False
        self.paused = 0
        self._study, self._designer, self._rules = study, designer, rules
        self._folder, self._observer = folder, observer
        self._heeds = study.prunes and not study.paired
        self._waiting: deque[Design] = deque()
        self._running: dict[str, Design] = {}
        self._lost: set[str] = set()
        self._faults: set[str] = set()  # of designs that are none
        self._looked = -math.inf

    def jobs(self) -> Iterator[Job | None]:
        """Jobs while there are any; a slot may have to wait for the end of another's."""
        self.beat()  # what dead processes had is wanted first
        while (job := self._next()) is not None or self._running:
            yield job

    def wanted(self) -> bool:
        """Whether another design is wanted; one whose ranks were lost is not replaced here."""
        return len(self._study.settled()) + self._study.running() < self._most

    @property
    def lost(self) -> int:
        """How many designs were given up here, as their ranks were lost again and again."""
        return len(self._lost)

    @property
    def _most(self) -> int:
        return self._rules.n_trials - self.lost

    def heard(self, job: Job, epoch: Epoch) -> Verdict | None:
        """What the pruner says of an epoch."""
        if not self._heeds:
            return None
        design = self._running[job.id]
        step = design.repeat * epoch.epochs + epoch.epoch
        design.hopeless = self._study.report(design.proposal, step, epoch.value)
        return GO if design.hopeless is None else Verdict("stop", design.hopeless)

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Take the result of a repeat; its design goes on, or is settled."""
        design = self._running.pop(job.id)
        if isinstance(outcome, Failed) and not outcome.lasting:
            self._lose(design, outcome)
        elif isinstance(job.payload, Inspect):
            self._measure(design, outcome)
        elif (result := self._result(design, outcome))["status"] == "paused":
            self.paused += 1
        elif self._goes_on(design, result):
            self._waiting.append(design)

    def beat(self) -> None:
        """Keep what is ours, and free what dead processes had."""
        self._study.renew()
        if time.monotonic() - self._looked >= _LOOK:
            self._looked = time.monotonic()
            if self._study.reclaim():
                self.exhausted = False

    def _next(self) -> Job | None:
        while self._waiting or self._ask():
            design = self._waiting.popleft()
            if (job := self._job(design)) is not None:
                self._running[job.id] = design
                return job
        return None

    def _ask(self) -> bool:
        """Whether there is a new design, which is in the queue then."""
        while not self.exhausted and self.wanted():
            asked = self._study.ask(self._identify)
            if asked is None:
                self.exhausted = True
            elif isinstance(asked, Proposal):
                if asked.design in self._lost or self._study.surplus(asked, self._most):
                    self._study.withdraw(asked)
                    self.exhausted = asked.design in self._lost
                    return False
                trials = self._designer.trials(asked.assignment)
                self._waiting.append(Design(asked, trials, sized=not self._rules.sizes))
                return True
        return False

    def _identify(self, assignment: Assignment) -> str | None:
        """The id of a design; None if it is no valid one, or not allowed."""
        try:
            trial = self._designer.trials(assignment)[0]
        except ConfigError as error:
            if str(error) not in self._faults:
                self._faults.add(str(error))
                self._observer.warned(f"left out: {error}")
            return None
        return "-".join(trial.design) if self._rules.allow(trial) else None

    def _job(self, design: Design) -> Job | None:
        """The next job of a design; None if what is there already settles it."""
        while (trial := design.next) is not None:
            if (result := self._kept(trial)) is None:
                job = run_job(trial, self._folder, self._heeds) if design.sized else None
                return job or inspect_job(trial)
            if not self._goes_on(design, result):
                break
        return None

    def _kept(self, trial: Trial) -> Result | None:
        """The result that is there, unless other code than now had led to it."""
        old = not self._rules.any_code and self._folder.outdated(trial)
        return None if old else self._folder.result(trial)

    def _goes_on(self, design: Design, result: Result) -> bool:
        """Whether a design has a repeat to come after this result; if not, it is settled."""
        design.results.append(result)
        trial, status, why = design.next, result["status"], result["error"]
        if status != "done":
            self._settle(design, status, error=why)
        elif trial is None:
            self._settle_done(design)
        elif (reason := self._judged(design, result)) is not None:
            self._folder.stop(trial, reason, result)
            self._settle(design, "pruned", error=reason)
        else:
            return True
        return False

    def _judged(self, design: Design, result: Result) -> str | None:
        """Why a design is hopeless after a repeat, if it is."""
        if not self._study.prunes:
            return None
        spec = design.trials[0].spec
        step = design.repeat - 1 if self._study.paired else design.repeat * spec.train.epochs - 1
        reason = self._study.report(design.proposal, step, result[f"val_{spec.metric}"])
        return design.hopeless or reason

    def _settle_done(self, design: Design) -> None:
        values = [goal.mean(design.results) for goal in self._rules.goals]
        if all(map(math.isfinite, values)):
            self._settle(design, "done", values)
        else:
            lacking = [g.name for g, v in zip(self._rules.goals, values, strict=True) if v - v != 0]
            self._settle(design, "failed", error=f"{lacking[0]} is no number")

    def _settle(
        self,
        design: Design,
        status: str,
        values: Sequence[float] | None = None,
        error: str | None = None,
    ) -> None:
        self._study.tell(design.proposal, status, values, error, self._code(design))
        self._observer.sought(self._rules.n_trials, len(self._study.settled()))

    def _code(self, design: Design) -> Mapping[str, str]:
        """The code that a design's results come from: an older one, if one of them is kept."""
        here = design.trials[0].code
        ran = (self._folder.code(trial) for trial in design.trials[: design.repeat])
        return next((code for code in ran if code != here), here)

    def _result(self, design: Design, outcome: Outcome) -> Result:
        trial = design.trials[design.repeat]
        result = result_of(trial, outcome, self._folder)
        self.statuses[result["status"]] += 1
        return result

    def _lose(self, design: Design, outcome: Failed) -> None:
        """Try a trial once more whose ranks were lost, which need not be its own fault."""
        design.lost += 1
        if design.lost < _ATTEMPTS:
            self._waiting.append(design)
            return
        self._result(design, outcome)
        self._lost.add(design.proposal.design)
        self._study.tell(design.proposal, FAULT, error=outcome.error)

    def _measure(self, design: Design, outcome: Outcome) -> None:
        """Hold a built design against the constraints on its size."""
        try:
            params = facts_of(outcome).params
        except ConfigError as error:
            self._settle(design, "failed", error=str(error))
            return
        design.sized = True
        if self._rules.allow(design.trials[0], params):
            self._waiting.append(design)
        else:
            self._settle(design, "invalid", error=f"{params:,} parameters are not allowed")
