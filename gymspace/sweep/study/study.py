"""The Optuna study that processes share: each design is run once, whoever asks and whoever dies."""

import functools
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Concatenate, ParamSpec, TypeVar

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.pruners import NopPruner, WilcoxonPruner
from optuna.samplers import RandomSampler
from optuna.trial import TrialState

from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.sweep.spaces.space import Assignment, Space
from gymspace.sweep.study.bakery import PATIENCE, rival
from gymspace.sweep.study.fingerprint import open_study
from gymspace.sweep.study.history import CODE, DESIGN, ERROR, STATUS
from gymspace.sweep.study.leases import Leases
from gymspace.sweep.study.ledger import Ledger
from gymspace.sweep.study.params import Params
from gymspace.sweep.study.proposals import DONE, FAULT, PRUNED, Direction, Known, Proposal, Settled
from gymspace.sweep.study.samplers import build_pruner, build_sampler, proposing, rehearse
from gymspace.sweep.study.stale import heed
from gymspace.sweep.study.storage import Storage, connect
from gymspace.sweep.study.untried import Identify, Untried

__all__ = ["FAULT", "Known", "Proposal", "Settled", "Study"]

REPEATS = 50  # proposals in a row that are of no use, after which a design is drawn at random

P = ParamSpec("P")
T = TypeVar("T")


def _answering(
    method: Callable[Concatenate["Study", P], T],
) -> Callable[Concatenate["Study", P], T]:
    """Let a method tell in one line that the storage failed."""

    @functools.wraps(method)
    def guarded(self: "Study", *args: P.args, **kwargs: P.kwargs) -> T:
        with self._storage.answering():
            return method(self, *args, **kwargs)

    return guarded


class Study:
    """A search in one of the processes that share it; make it with `open`."""

    @classmethod
    def open(
        cls,
        storage: str,
        name: str,
        space: Space,
        directions: Sequence[Direction],
        sampler: Component,
        pruner: Component,
        about: Mapping[str, Any],
        *,
        seed: int = 0,
        extend: bool = False,
        retry: bool = False,
        code: Mapping[str, str] | None = None,
        stale: str = "error",
        leases: Leases | None = None,
    ) -> "Study":
        """Open the study ``name`` in ``storage``; it is made if there is none.

        ``about`` is plain data that says what is searched: objectives, space, base. What differs
        from the study's own is refused, unless ``extend`` allows another space or base. With
        ``retry`` designs that failed are proposed again. ``stale`` says what is done about settled
        designs that another version of the user's ``code`` led to, digests by name: "error",
        "keep" or "rerun".

        Raises:
            ConfigError: another search has that name, a storage that does not answer, a sampler
                or pruner that cannot be made or does not fit, outdated designs.
        """
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rules = build_pruner(pruner, directions)
        seeded = functools.partial(build_sampler, sampler, seed)
        rehearse(seeded(0), sampler.label, space, directions)
        with ExitStack() as stack:
            opened = connect(storage)
            stack.callback(opened.close)
            stack.enter_context(opened.answering())
            study = open_study(opened.backend, name, directions, about, extend)
            study.pruner, study.sampler = rules, RandomSampler()
            ledger = Ledger(study, leases or Leases(), seeded)
            shared = cls(study, opened, ledger, space, sampler.label)
            heed(ledger, code or {}, stale)
            if retry:
                shared._retry()
            stack.pop_all()
            return shared

    def __init__(
        self, study: optuna.Study, storage: Storage, ledger: Ledger, space: Space, sampler: str
    ) -> None:
        self._study, self._storage, self._ledger = study, storage, ledger
        self._space, self._sampler = space, sampler
        known = {n: d for trial in ledger.trials() for n, d in trial.distributions.items()}
        self._params = Params(space, known)
        self._directions: Sequence[Direction] = [d.name.lower() for d in study.directions]  # type: ignore[misc]
        self._reported: set[tuple[int, int]] = set()
        self._untried = Untried(space, ledger, self._params)
        self._useless = 0

    @property
    def prunes(self) -> bool:
        """Whether the pruner can stop anything; if not, `report` keeps nothing."""
        return not isinstance(self._study.pruner, NopPruner)

    @property
    def paired(self) -> bool:
        """Whether the pruner compares repeats with those of the best design: one step for each."""
        return isinstance(self._study.pruner, WilcoxonPruner)

    @_answering
    def ask(self, identify: Identify) -> Proposal | Known | None:
        """A design that nobody runs or ran, or one that is `Known`; None if there are no more.

        After `REPEATS` proposals in a row that are of no use, one of the designs left is drawn at
        random.

        Raises:
            ConfigError: a sampler that cannot work on this space.
        """
        while not self._none_left():
            if self._useless >= REPEATS and not self._untried.queue(identify):
                return None
            found = self._propose(identify)
            self._useless = 0 if isinstance(found, Proposal) else self._useless + 1
            if found is not None:
                return found
        return None

    @_answering
    def report(self, proposal: Proposal, step: int, value: float) -> str | None:
        """Tell the pruner a value (nan too), and hear why to stop, if so.

        A step that was reported before keeps its value.
        """
        trial = self._ledger.mine[proposal.number]
        if not self.prunes:
            return None
        try:
            if (proposal.number, step) not in self._reported:
                self._reported.add((proposal.number, step))
                trial.report(value, step)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of numpy, about a trial of nan
                hopeless = trial.should_prune()
        except UpdateFinishedTrialError:  # taken over as its lease had run out: `tell` sees to it
            return None
        rule = type(self._study.pruner).__name__
        return f"{rule}: {value:.4g} at step {step} is not enough" if hopeless else None

    @_answering
    def tell(
        self,
        proposal: Proposal,
        status: str,
        values: Sequence[float] | None = None,
        error: str | None = None,
        code: Mapping[str, str] | None = None,
    ) -> None:
        """Say what became of a proposal, and by what ``code`` of the user, digests by name.

        With the status done, ``values`` are those of the objectives. A design that is pruned has
        none; one lost to a `FAULT` may be proposed again. Any other status is the design's own
        fault: the sampler is told values that are worse than all others, so that it keeps away.
        """
        number = proposal.number
        if status == DONE and not all(math.isfinite(value) for value in values or (math.nan,)):
            status = "diverged"
        if status == FAULT:
            self._untried.lost(proposal.design)
        if (other := self._ledger.history.settled.get(proposal.design)) is not None:
            return self._ledger.give_way(number, other.number)
        state, told = self._verdict(status, values)
        notes: dict[str, Any] = {} if status in (DONE, PRUNED, FAULT) else {STATUS: status}
        notes |= {} if error is None else {ERROR: error}
        notes |= {CODE: dict(code)} if code else {}
        if not self._ledger.end(number, state, told, notes) and state != TrialState.FAIL:
            self._add(number, state, told, notes)
        return None

    @_answering
    def renew(self) -> None:
        """Keep the leases of this process; may be called often."""
        self._ledger.renew()

    @_answering
    def reclaim(self) -> int:
        """Queue again the designs of dead processes; how many there were."""
        ledger = self._ledger
        running = ledger.update().running
        return sum(ledger.take_back(trial) for trial in running if ledger.dead(trial))

    @_answering
    def settled(self) -> Mapping[str, Settled]:
        """What became of every design that needs no further run, by its id."""
        return self._ledger.update().settled

    def running(self) -> int:
        """How many trials ran in all processes together, when `settled` or `ask` last looked."""
        return len(self._ledger.history.running)

    @_answering
    def surplus(self, proposal: Proposal, wanted: int) -> bool:
        """Whether ``wanted`` designs are settled, or run in trials begun before this one.

        Of processes that ask at the same time all but the first are told so.
        """
        history = self._ledger.update()
        earlier = sum(trial.number < proposal.number for trial in history.running)
        return len(history.settled) + earlier >= wanted

    @_answering
    def withdraw(self, proposal: Proposal) -> None:
        """Queue a proposal for whoever asks next."""
        self._ledger.release(proposal.number)

    def close(self) -> None:
        """Queue again what this process has open, and let the storage go."""
        try:
            with self._storage.answering():
                self._ledger.release(*self._ledger.mine)
        finally:
            self._storage.close()

    def _none_left(self) -> bool:
        """Whether the space holds no more; what another process gave back is seen in time."""
        if not self._untried.none():
            return False
        self._ledger.update()
        return self._untried.none()

    def _propose(self, identify: Identify) -> Proposal | Known | None:
        """One proposal of the sampler, or out of the queue; None if it is of no use."""
        begun = time.monotonic()
        trial = self._ledger.begin()
        try:
            assignment = self._drawn(trial)
            allowed = self._space.allows(assignment)
            design = identify(assignment) if allowed else None
            if design is None:
                self._refuse(trial.number)
                return None
            trial.set_user_attr(DESIGN, design)
        except UpdateFinishedTrialError:  # it took longer than a lease
            del self._ledger.mine[trial.number]
            return None
        proposal = Proposal(trial.number, assignment, design)
        first = rival(self._ledger, proposal, late=time.monotonic() - begun > PATIENCE / 2)
        if isinstance(first, Settled):
            self._ledger.repeat(trial.number, first.number)
            return Known(proposal, first)
        if first is not None or self._untried.given_up(design):
            self._ledger.give_way(trial.number, trial.number if first is None else first)
            return None
        return proposal

    def _drawn(self, trial: optuna.Trial) -> Assignment:
        try:
            with proposing(self._sampler):
                return self._params.draw(trial)
        except ConfigError:
            self._ledger.end(trial.number, TrialState.FAIL)
            raise

    def _refuse(self, number: int) -> None:
        """End a proposal that is not allowed."""
        state, told = self._verdict("invalid", None)
        self._ledger.end(number, state, told, {STATUS: "invalid"})

    def _add(
        self,
        number: int,
        state: TrialState,
        values: Sequence[float] | None,
        notes: Mapping[str, Any],
    ) -> None:
        """Keep the result of a trial that was taken over, unless there is one by now."""
        lost = self._ledger.trials()[number]
        if lost.user_attrs[DESIGN] not in self._ledger.update().settled:
            self._ledger.add(lost, state, values, notes)

    def _verdict(
        self, status: str, values: Sequence[float] | None
    ) -> tuple[TrialState, Sequence[float] | None]:
        """What Optuna is told; as long as nothing has a value, to fail is to be pruned at once."""
        if status == FAULT:
            return TrialState.FAIL, None
        if status == PRUNED:
            return TrialState.PRUNED, None
        told = values if status == DONE else self._ledger.update().worst(self._directions)
        return (TrialState.PRUNED, None) if told is None else (TrialState.COMPLETE, told)

    def _retry(self) -> None:
        trials, settled = self._ledger.trials(), self._ledger.update().settled
        for failed in [s for s in settled.values() if s.status not in (DONE, PRUNED)]:
            self._ledger.queue_again(trials[failed.number])
