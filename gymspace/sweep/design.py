"""A design of a search while it runs: its repeats one after another, and what became of them."""

from collections.abc import Sequence

from gymspace.sweep.loop import Result
from gymspace.sweep.plan import Trial
from gymspace.sweep.study.proposals import Proposal


class Design:
    """The trials of one proposal in their order, and the results that are there so far."""

    def __init__(self, proposal: Proposal, trials: Sequence[Trial], sized: bool = True):
        """``sized`` says that its number of parameters needs no look."""
        self.proposal = proposal
        self.trials = tuple(trials)
        self.results: list[Result] = []
        self.sized = sized
        self.hopeless: str | None = None  # why, if it is
        self.lost = 0  # times that its ranks were

    @property
    def repeat(self) -> int:
        """How many repeats are over, which is the number of the next one."""
        return len(self.results)

    @property
    def next(self) -> Trial | None:
        """The trial to run next."""
        return self.trials[self.repeat] if self.repeat < len(self.trials) else None
