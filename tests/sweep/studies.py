"""A study in memory that proposes what it is given and writes down what it is told."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gymspace.sweep.study.proposals import FAULT, Known, Proposal, Settled

Identify = Callable[[Mapping[str, Any]], str | None]


class Notebook:
    """Proposes ``designs`` in their order; ``judge`` says why to prune at (number, step, value)."""

    def __init__(
        self,
        designs: Sequence[Mapping[str, Any]],
        judge: Callable[[int, int, float], str | None] | None = None,
        paired: bool = False,
        others: int = 0,
    ):
        self.designs, self.judge = list(designs), judge
        self.prunes, self.paired = judge is not None, paired
        self.reports: list[tuple[int, int, float]] = []
        self.told: list[tuple[int, str, Any]] = []
        self.done: dict[str, Settled] = {}
        self.open: dict[int, Proposal] = {}
        self.withdrawn: list[int] = []
        self.others, self.asked, self.closed = others, 0, False

    def ask(self, identify: Identify) -> Proposal | Known | None:
        """The next of the designs; one that is settled is known."""
        while self.asked < len(self.designs):
            assignment, number = self.designs[self.asked], self.asked
            self.asked += 1
            if (design := identify(assignment)) is None:
                continue
            proposal = Proposal(number, assignment, design)
            if design in self.done:
                return Known(proposal, self.done[design])
            self.open[number] = proposal
            return proposal
        return None

    def report(self, proposal: Proposal, step: int, value: float) -> str | None:
        """Write it down and judge."""
        self.reports.append((proposal.number, step, value))
        return self.judge and self.judge(proposal.number, step, value)

    def tell(
        self,
        proposal: Proposal,
        status: str,
        values: Any = None,
        error: str | None = None,
        code: Any = None,
    ) -> None:
        """Write it down."""
        del self.open[proposal.number]
        self.told.append((proposal.number, status, values if values is not None else error))
        if status != FAULT:
            self.done[proposal.design] = Settled(status, values, proposal.number)

    def surplus(self, proposal: Proposal, wanted: int) -> bool:
        """Whether others were quicker."""
        earlier = sum(number < proposal.number for number in self.open) + self.others
        return len(self.done) + earlier >= wanted

    def withdraw(self, proposal: Proposal) -> None:
        """Nobody else asks."""
        del self.open[proposal.number]
        self.withdrawn.append(proposal.number)

    def settled(self) -> Mapping[str, Settled]:
        """What was told."""
        return self.done

    def running(self) -> int:
        """Own ones and those of others."""
        return len(self.open) + self.others

    def renew(self) -> None:
        """Nothing to do."""

    def reclaim(self) -> int:
        """Nobody else is here."""
        return 0

    def close(self) -> None:
        """Nobody asks any more."""
        self.closed = True
