"""Small trials for the tests: their specs, how they are run, and what they left."""

import csv
from functools import reduce
from pathlib import Path

from gymspace.records import HISTORY, Run
from gymspace.spec import TrialSpec, parse, replace
from gymspace.training.fit import Fit
from gymspace.training.group import Group
from gymspace.training.trial import assemble, seed_everything
from gymspace.training.worker import Worker

RING = "tests.training.tasks:ring"
BASE = {
    "dataset": RING,
    "data": {"split": "own"},
    "model": {"dim_inner": 8},
    "train": {"epochs": 5},
    "log": {"tensorboard": False},
}


def spec_of(keys: dict | None = None) -> TrialSpec:
    """A spec of a small trial on a ring, with dotted ``keys`` changed."""
    return parse(reduce(lambda base, item: replace(base, *item), (keys or {}).items(), BASE))


def assembled(keys: dict | None = None) -> Fit:
    """What the trial trains with, seeded as in the trial."""
    spec = spec_of(keys)
    task = Worker(0, 1)._task(spec)
    seed_everything(spec.seed)
    return assemble(spec, task, Group())


def run(
    folder: Path, keys: dict | None = None, report=lambda progress: None, choices=None, heeds=False
) -> dict:
    """The result of the trial, run in ``folder`` by a worker of its own."""
    folder.mkdir(exist_ok=True, parents=True)
    return Worker(0, 1)(Run(spec_of(keys), folder, choices or {}, heeds), report)


def history(folder: Path) -> list[dict[str, str]]:
    """The rows of the history as they were written, but for the durations."""
    with (folder / HISTORY).open(newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]
