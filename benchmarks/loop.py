"""What the sweep loop costs per trial, with trials that do nothing: time, memory, and a study's.

Planned trials at 1,000 and at 10,000; then searches on a journal, beside Optuna's own ask and tell
on a journal of the same kind, and how TPE's own share grows.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from gymspace.dist.jobs import Done, Event, Finished, Job, Started
from gymspace.records import Facts, Inspect
from gymspace.schema import Component
from gymspace.sweep.designs import Designs, Rules
from gymspace.sweep.draws.draw import Grid
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.loop import drive
from gymspace.sweep.objectives import Objective
from gymspace.sweep.plan import Designer, plan
from gymspace.sweep.planned import Sweep, run_sweep
from gymspace.sweep.spaces.space import parse_space
from gymspace.sweep.study.study import Study

ALLOWED = 5.0  # ms per trial
SPACE = {
    "optim.lr": {"low": 1e-4, "high": 0.1, "log": True},
    "model.dropout": {"low": 0.0, "high": 0.6},
}
DONE = {"status": "done", "error": None, "val_accuracy": 0.5, "metric": "accuracy"}


class Idle:
    """A launcher whose jobs are over at once, and an observer that does not look."""

    facts = Facts(7, "", "")

    @contextmanager
    def __call__(self, ranks: int, device: str) -> Iterator["Idle"]:
        yield self

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """One after another."""
        for job in jobs:
            if job is None:
                return
            look = isinstance(job.payload, Inspect)
            yield Started(0, job)
            yield Finished(
                0, job, Done(Facts(7, job.id, "") if look else {**DONE, "trial": job.id})
            )

    def _nothing(self, *_: Any) -> None:
        pass

    answer = planned = sought = warned = noted = happened = _nothing


class Spent(NamedTuple):
    """Seconds on the clock and of this process's own computing."""

    clock: float
    own: float

    @classmethod
    def now(cls) -> "Spent":
        """Until now."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, other: "Spent", trials: int) -> "Spent":
        """Milliseconds per trial from the ``other`` moment to this one."""
        return Spent(*((a - b) / trials * 1000 for a, b in zip(self, other, strict=True)))


def planned(trials: int) -> tuple[Spent, float]:
    """What a trial of a grid costs, planning and a look at each included; MB at the peak."""
    space = parse_space({"optim.lr": [0.01 + i * 1e-6 for i in range(trials)]})
    begun, idle = Spent.now(), Idle()
    found = plan(Grid(space), Designer([{"seed": 0, "fold": 0}], {}, {}, lambda chosen: {}))
    with tempfile.TemporaryDirectory() as folder:
        run_sweep(Sweep(found, Grid(space), SweepFolder(Path(folder)), {}), idle, idle)
        spent = Spent.now().since(begun, trials)
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def searched(trials: int, sampler: str) -> list[Spent]:
    """The moments at which the designs of a search were settled, and before them the start."""
    moments: list[Spent] = []

    class Watch(Idle):
        def sought(self, *_: Any) -> None:
            moments.append(Spent.now())

    with tempfile.TemporaryDirectory() as folder:
        space, goals = parse_space(SPACE), (Objective("val_accuracy", "maximize"),)
        kind, none = Component(name=sampler), Component(name="none")
        path = str(Path(folder) / "study.journal")
        study = Study.open(path, "s", space, ["maximize"], kind, none, {})
        designer = Designer([{"seed": 0, "fold": 0}], {}, {}, lambda chosen: {})
        source = Designs(study, designer, Rules(trials, goals), SweepFolder(Path(folder)), Watch())
        moments.append(Spent.now())
        drive(source, Idle(), Idle())
        study.close()
    return moments


def bare(trials: int, sampler: str) -> list[Spent]:
    """The same with Optuna alone."""
    kinds = {"random": optuna.samplers.RandomSampler, "tpe": optuna.samplers.TPESampler}
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        storage = JournalStorage(JournalFileBackend(str(Path(folder) / "study.journal")))
        study = optuna.create_study(storage=storage, sampler=kinds[sampler](seed=0))
        moments = [Spent.now()]
        for _ in range(trials):
            trial = study.ask()
            trial.suggest_float("optim.lr", 1e-4, 0.1, log=True)
            trial.suggest_float("model.dropout", 0.0, 0.6)
            study.tell(trial, 0.5)
            moments.append(Spent.now())
    return moments


def main() -> None:
    """Print each figure over what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--planned", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--searched", type=int, default=1000)
    args = parser.parse_args()
    for trials in args.planned:
        spent, peak = planned(trials)
        each = f"{spent.clock:.2f} of {ALLOWED:.0f} ms each, {spent.own:.2f} of them computing"
        print(f"planned, {trials:,} trials: {each}; peak {peak:.0f} MB")
    for sampler in ("random", "tpe"):
        ours, optunas = searched(args.searched, sampler), bare(args.searched, sampler)
        step = max(1, args.searched // 5)
        for end in range(step, args.searched + 1, step):
            own, alone = (m[end].since(m[end - step], step) for m in (ours, optunas))
            more = f"{own.clock - alone.clock:.2f} of {ALLOWED:.0f} ms each beyond Optuna's"
            computing = f"computing {own.own - alone.own:.2f} beyond {alone.own:.2f}"
            at = f"searched with {sampler}, trials {end - step + 1:,}-{end:,}"
            print(f"{at}: {more} {alone.clock:.2f}; {computing}")


if __name__ == "__main__":
    main()
