"""What a study and a search say to each other about designs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gymspace.sweep.spaces.space import Assignment

Direction = Literal["maximize", "minimize"]
DONE, PRUNED = "done", "pruned"
# Of a trial that no fault of its design has ended: the design may be proposed again.
FAULT = "fault"


@dataclass(frozen=True)
class Proposal:
    """A design to run: the number of its trial in the study, what it assigns, its id."""

    number: int
    assignment: Assignment
    design: str


@dataclass(frozen=True)
class Settled:
    """What became of a design, in the trial of that number.

    There is one value per objective if the status is done, and none otherwise.
    """

    status: str
    values: Sequence[float] | None
    number: int


@dataclass(frozen=True)
class Known:
    """A proposal that was settled before: the sampler has been told so, and nothing is to run."""

    proposal: Proposal
    settled: Settled
