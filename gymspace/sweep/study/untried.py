"""Which designs of a space are left for a study, and one of them drawn at random."""

import random
from collections import Counter
from collections.abc import Callable

from gymspace.sweep.spaces.space import Assignment, Space
from gymspace.sweep.study.history import DESIGN
from gymspace.sweep.study.ledger import Ledger
from gymspace.sweep.study.params import Params

FAULTS = 3  # times that a design is lost to faults before this process leaves it alone

# The id of a design; None for one that is not allowed.
Identify = Callable[[Assignment], str | None]


class Untried:
    """The designs of ``space`` that no trial of the ledger has settled, runs or queues."""

    def __init__(self, space: Space, ledger: Ledger, params: Params):
        self._space, self._ledger, self._params = space, ledger, params
        self._faults: Counter[str] = Counter()

    def lost(self, design: str) -> None:
        """Count a fault that a design was lost to."""
        self._faults[design] += 1

    def given_up(self, design: str) -> bool:
        """Whether a design was lost too often."""
        return self._faults[design] >= FAULTS

    def none(self) -> bool:
        """Whether there are none, by the size of the space, and the queue is empty."""
        history, size = self._ledger.history, self._space.size
        queued = len(history.open) > len(history.running)
        return size is not None and not queued and len(self._taken()) >= size

    def queue(self, identify: Identify) -> bool:
        """Queue one of them, each as likely as the others; False if there is none."""
        taken = self._taken()
        for assignment in self._space.shuffled(random.Random(len(self._ledger.trials()))):
            design = identify(assignment)
            if design is not None and design not in taken:
                self._ledger.queue(self._params.fixed(assignment), design)
                return True
        return False

    def _taken(self) -> set[str]:
        history = self._ledger.history
        underway = {trial.user_attrs.get(DESIGN) for trial in history.open.values()}
        given_up = filter(self.given_up, self._faults)
        return {*history.settled, *filter(None, underway), *given_up}
