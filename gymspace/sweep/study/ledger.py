"""The trials of a study as a process writes them: begun, leased, ended, queued again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState, create_trial

from gymspace.sweep.study.history import AFTER, DESIGN, LEASE, SAME_AS, History
from gymspace.sweep.study.leases import Leases


class Ledger:
    """Writes to a study, and keeps what is known of its ``history``.

    ``seeded`` makes the sampler out of the number of the first trial that this process begins: no
    two processes have the same, nor has one that goes on with a study.
    """

    def __init__(
        self, study: optuna.Study, leases: Leases, seeded: Callable[[int], BaseSampler]
    ) -> None:
        self.history = History()
        self.mine: dict[int, optuna.Trial] = {}
        self._study, self._leases = study, leases
        self._seeded: Callable[[int], BaseSampler] | None = seeded

    def trials(self) -> Sequence[FrozenTrial]:
        """All trials in order; not to be changed."""
        return self._study.get_trials(deepcopy=False)

    def update(self) -> History:
        """What is known by now."""
        self.history.update(self.trials())
        return self.history

    def begin(self) -> optuna.Trial:
        """A new trial, or the first of the queue; it belongs to this process at once."""
        trial = self._study.ask()
        self.mine[trial.number] = trial
        trial.set_user_attr(LEASE, self._leases.lease())
        if self._seeded is not None:
            self._study.sampler, self._seeded = self._seeded(trial.number), None
            trial = self.mine[trial.number] = optuna.Trial(self._study, trial._trial_id)
        return trial

    def end(
        self,
        number: int,
        state: TrialState,
        values: Sequence[float] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> bool:
        """End a trial of this process; False if another has taken it over."""
        trial = self.mine.pop(number)
        try:
            for key, value in (notes or {}).items():
                trial.set_user_attr(key, value)
        except UpdateFinishedTrialError:
            return False
        return self._tell(number, state, values)

    def give_way(self, number: int, to: int) -> None:
        """End a trial whose design is that of another, which counts."""
        self.end(number, TrialState.FAIL, notes={SAME_AS: to})

    def repeat(self, number: int, other: int) -> None:
        """End a trial as another of the same design has ended, for the sampler to learn."""
        told = self.trials()[other]
        if told.state == TrialState.PRUNED and told.last_step is not None:
            self.mine[number].report(told.intermediate_values[told.last_step], told.last_step)
        values = told.values if told.state == TrialState.COMPLETE else None
        self.end(number, told.state, values, {SAME_AS: other})

    def add(
        self,
        lost: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
        notes: Mapping[str, Any],
    ) -> None:
        """Add an ended trial in place of one that was taken over: what was found is not lost."""
        attributes = {DESIGN: lost.user_attrs[DESIGN], AFTER: lost.number, **notes}
        added = create_trial(
            state=state,
            values=values,
            params=lost.params,
            distributions=lost.distributions,
            user_attrs=attributes,
        )
        self._study.add_trial(added)

    def queue(self, params: Mapping[str, Any], design: str, after: int | None = None) -> None:
        """Queue a design for whoever asks next, in the place of the trial ``after``."""
        place = {} if after is None else {AFTER: after}
        self._study.enqueue_trial(dict(params), {DESIGN: design, **place})

    def queue_again(self, trial: FrozenTrial) -> None:
        """Queue the design of a trial, if it had one yet."""
        if DESIGN in trial.user_attrs:
            self.queue(trial.params, trial.user_attrs[DESIGN], trial.number)

    def renew(self) -> None:
        """Renew the leases of this process if it is time."""
        for trial in self.mine.values() if self._leases.due() else ():
            try:
                trial.set_user_attr(LEASE, self._leases.lease())
            except UpdateFinishedTrialError:  # taken over; told when it ends
                continue

    def dead(self, trial: FrozenTrial) -> bool:
        """Whether the process that runs a trial is gone."""
        return self._leases.dead(trial.number, trial.user_attrs.get(LEASE))

    def take_back(self, trial: FrozenTrial) -> bool:
        """End the trial of a dead process and queue its design; of several takers one does it."""
        taken = self._tell(trial.number, TrialState.FAIL)
        if taken:
            self.queue_again(trial)
        return taken

    def release(self, *numbers: int) -> None:
        """Queue again what this process has open under these numbers."""
        for number in numbers:
            if self.end(number, TrialState.FAIL):
                self.queue_again(self.trials()[number])

    def _tell(self, number: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        """End a trial; False if it is over already."""
        try:
            self._study.tell(number, values, state)
        except UpdateFinishedTrialError:
            return False
        except (ValueError, RuntimeError) as error:
            if str(error).startswith("Cannot tell a "):
                return False
            if "Study.stop" not in str(error):  # an exhaustive sampler ends Optuna's loop, not ours
                raise
        return True
