"""Small searches for the tests of studies, also as a process of its own.

As a process it prints each design before it says what became of it, until the study has ten; with
`hold` it keeps the first and waits.
"""

import sys
import time
from typing import Any

from gymspace.schema import Component
from gymspace.sweep.spaces.space import Space, identity, parse_space
from gymspace.sweep.study.leases import Leases
from gymspace.sweep.study.proposals import Proposal
from gymspace.sweep.study.study import Study

SPACE = parse_space({"model.layers_mp": [1, 2, 3, 4], "model.agg": ["add", "mean", "max"]})
WIDE = parse_space({"model.layers_mp": list(range(1, 21)), "model.agg": ["add", "mean", "max"]})


def open_study(storage: str, name: str, space: Space = SPACE, **more: Any) -> Study:
    """A study of one objective, as a search of seed 0 opens it."""
    about = {"objectives": ["accuracy"], "space": repr(space), "base": {"dataset": "digits"}}
    sampler = Component.model_validate(more.pop("sampler", "tpe"))
    pruner = Component.model_validate(more.pop("pruner", "none"))
    directions = more.pop("directions", ["maximize"])
    about |= more.pop("about", {})
    return Study.open(storage, name, space, directions, sampler, pruner, about, **more)


def value(proposal: Proposal) -> float:
    """What a design of `SPACE` is worth: the more layers the better."""
    return proposal.assignment["model.layers_mp"] / 10


def proposals(study: Study, most: int = 1000) -> list[Proposal]:
    """Proposals until there are no more, each told at once that it is done."""
    found: list[Proposal] = []
    while len(found) < most and (asked := study.ask(identity)) is not None:
        if isinstance(asked, Proposal):
            found.append(asked)
            study.tell(asked, "done", [value(asked)])
    return found


def elsewhere(clock: Any) -> Leases:
    """Leases as another host gives them."""
    leases = Leases(clock)
    leases._owner = type(leases._owner)("elsewhere", "its system", 1, 1)
    return leases


def main(storage: str, name: str, hold: str = "") -> None:
    study = open_study(storage, name, WIDE)
    while len(study.settled()) < 10:
        if isinstance(asked := study.ask(identity), Proposal):
            print(asked.design, flush=True)
            if hold:
                time.sleep(60)
            study.tell(asked, "done", [value(asked)])
    study.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
