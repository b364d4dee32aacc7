"""One design in one trial only, over all processes: the bakery of Lamport (CACM 17(8), 1974).

The number of a trial is its ticket. Whoever asks writes down the design of its trial, waits until
all lower numbers have written theirs, and gives way to a lower one with the same design.
"""

import time

from optuna.trial import FrozenTrial, TrialState

from gymspace.sweep.study.history import DESIGN
from gymspace.sweep.study.ledger import Ledger
from gymspace.sweep.study.proposals import Proposal, Settled

PATIENCE = 60.0  # seconds to wait for what a process that is there will write down


def rival(ledger: Ledger, proposal: Proposal, late: bool = False) -> Settled | int | None:
    """What became of a proposed design already, or the number of the trial that goes first.

    A process that is ``late`` has not been waited for, so that it gives way to higher numbers too.
    """
    patience = time.monotonic() + PATIENCE
    while True:
        history = ledger.update()
        if (settled := history.settled.get(proposal.design)) is not None:
            return settled
        others = [t for n, t in history.open.items() if n < proposal.number or late]
        others = [t for t in others if t.number != proposal.number]
        silent = [t for t in others if _silent(t) and not _cleared(t, ledger)]
        same = [t for t in others if t.user_attrs.get(DESIGN) == proposal.design]
        first = [t.number for t in same if not _cleared(t, ledger)]
        if first:
            return first[0]
        if not silent or time.monotonic() > patience:
            return None
        time.sleep(0.002)


def _silent(trial: FrozenTrial) -> bool:
    return trial.state == TrialState.RUNNING and DESIGN not in trial.user_attrs


def _cleared(trial: FrozenTrial, ledger: Ledger) -> bool:
    """Whether nobody runs this trial, which ends it; its design is queued behind the proposal."""
    if trial.state != TrialState.RUNNING or not ledger.dead(trial):
        return False
    ledger.take_back(trial)
    return True
