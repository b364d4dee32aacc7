"""What the trials of a study say of its designs; each trial is read until it is finished."""

from collections.abc import Mapping, Sequence

from optuna.trial import FrozenTrial, TrialState

from gymspace.sweep.study.proposals import DONE, PRUNED, Direction, Settled

# User attributes of a trial.
DESIGN = "design"  # the id of its design
LEASE = "lease"  # who runs it
STATUS = "status"  # why its value is made up
ERROR = "error"  # the one line that says so
SAME_AS = "same_as"  # the number of the trial whose design it repeats
CODE = "code"  # digests of the user's code behind its result
AFTER = "after"  # the number of the trial whose place it takes

_STATUS = {TrialState.COMPLETE: DONE, TrialState.PRUNED: PRUNED}


class History:
    """The designs of a study that are settled, and its trials that are not finished."""

    def __init__(self) -> None:
        self.open: Mapping[int, FrozenTrial] = {}
        self._settled: dict[str, Settled] = {}
        self._replaced: set[int] = set()
        self._values: list[Sequence[float]] = []
        self._read = 0

    @property
    def settled(self) -> Mapping[str, Settled]:
        """What became of each settled design, by its id."""
        return self._settled

    @property
    def running(self) -> Sequence[FrozenTrial]:
        """Trials that a process runs, or ran when it died."""
        return [trial for trial in self.open.values() if trial.state == TrialState.RUNNING]

    def update(self, trials: Sequence[FrozenTrial]) -> None:
        """Learn from all ``trials`` of a study, in order."""
        unread = [*(trials[number] for number in self.open), *trials[self._read :]]
        self._read = len(trials)
        self.open = {trial.number: trial for trial in unread if not trial.state.is_finished()}
        for trial in unread:
            self._replace(trial)
        for trial in unread:
            if trial.state in _STATUS:
                self._settle(trial)

    def worst(self, directions: Sequence[Direction]) -> list[float] | None:
        """Values a little worse than any so far; None as long as there are none."""
        if not self._values:
            return None
        columns = zip(*self._values, strict=True)
        return [_worse(column, way) for column, way in zip(columns, directions, strict=True)]

    def _replace(self, trial: FrozenTrial) -> None:
        number = trial.user_attrs.get(AFTER)
        if number is not None and number not in self._replaced:
            self._replaced.add(number)
            self._settled = {d: s for d, s in self._settled.items() if s.number != number}

    def _settle(self, trial: FrozenTrial) -> None:
        design, attributes = trial.user_attrs.get(DESIGN), trial.user_attrs
        if design is None or SAME_AS in attributes or trial.number in self._replaced:
            return
        status = attributes.get(STATUS, _STATUS[trial.state])
        values = trial.values if status == DONE else None
        if values is not None:
            self._values.append(values)
        self._settled.setdefault(design, Settled(status, values, trial.number))


def _worse(values: Sequence[float], direction: Direction) -> float:
    low, high = min(values), max(values)
    margin = (high - low) or 0.1 * max(abs(low), 1.0)
    return low - margin if direction == "maximize" else high + margin
