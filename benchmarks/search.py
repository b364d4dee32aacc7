"""How good a design a search finds, and how soon: random, TPE, TPE with pruning, on a table.

The table holds all results of the example grid on Cora (36 designs, 3 seeds, 200 epochs), so that a
trial is a look-up and a search of our own code takes seconds. "Best" is the design with the best
mean validation accuracy over seeds; simple regret is how far the best design that a search has
finished lies below it. All searches are compared at equal epochs of training.

    python -m gymspace +experiment=node_grid -m dataset=cora sweep.name=cora
    python benchmarks/search.py --make results/cora
    python benchmarks/search.py
"""

import argparse
import csv
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gymspace.dist.jobs import Done, Event, Finished, Job, Progress, Started
from gymspace.records import Progress as Epoch
from gymspace.records import Verdict
from gymspace.results.read import read_history, read_trials
from gymspace.schema import Component
from gymspace.sweep.designs import Designs, Rules
from gymspace.sweep.loop import drive
from gymspace.sweep.objectives import Objective
from gymspace.sweep.plan import Designer, Trial
from gymspace.sweep.spaces.space import parse_space
from gymspace.sweep.study.study import Study

TABLE = Path(__file__).parent / "data" / "cora_grid.csv"
KEYS = ("model.layers_pre_mp", "model.layers_mp", "model.layers_post_mp", "model.stage")
EPOCHS, EVERY, SEEDS = 200, 10, 3
PEERS: Mapping[str, tuple[str, str]] = {
    "random": ("random", "none"),
    "TPE": ("tpe", "none"),
    "TPE, median pruning": ("tpe", "median"),
}
Key = tuple[str, ...]


def make(folder: Path) -> None:
    """Write the table from a finished grid: the best validation accuracy, and every tenth one."""
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*KEYS, "seed", "best", "curve"))
        for record in sorted(read_trials(folder), key=_order):
            curve = read_history(folder, record["trial"])["val_accuracy"][EVERY - 1 :: EVERY]
            choices = [record["choices"][key] for key in KEYS]
            best = f"{record['val_accuracy']:.4f}"
            cells = " ".join(f"{value:.4f}" for value in curve)
            writer.writerow((*choices, record["seed"], best, cells))


def _order(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return *(record["choices"][key] for key in KEYS), record["seed"]


def load() -> dict[Key, dict[int, tuple[float, list[float]]]]:
    """Best value and curve by design and seed."""
    found: dict[Key, dict[int, tuple[float, list[float]]]] = {}
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(file):
            curve = [float(cell) for cell in row["curve"].split()]
            design = tuple(row[key] for key in KEYS)
            found.setdefault(design, {})[int(row["seed"])] = (float(row["best"]), curve)
    return found


class LookUp:
    """A launcher of one slot that reads results off the table and counts epochs, and no folder."""

    path = Path()

    def __init__(self, table: Mapping[Key, Mapping[int, tuple[float, list[float]]]]):
        self.table, self.epochs, self.verdict = table, 0, Verdict("go")
        self.finished: list[tuple[int, float]] = []  # epochs by then, value of the design

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """One trial after another."""
        for job in jobs:
            if job is None:
                return
            yield Started(0, job)
            best, curve = self.table[_key(job.payload.choices)][job.payload.spec.seed]
            yield from self._train(job, best, curve)

    def _train(self, job: Job, best: float, curve: list[float]) -> Iterator[Event]:
        self.verdict = Verdict("go")
        for step, value in enumerate(curve):
            self.epochs += EVERY
            yield Progress(0, job, Epoch(step, len(curve), value))
            if self.verdict.kind != "go" and step + 1 < len(curve):
                yield Finished(0, job, Done({"status": "pruned", "error": self.verdict.reason}))
                return
        yield Finished(0, job, Done({"status": "done", "error": None, "val_accuracy": best}))

    def answer(self, slot: int, verdict: Verdict) -> None:
        """Heard before the next epoch."""
        self.verdict = verdict

    def begin(self, trial: Trial) -> Path:
        """There is no folder."""
        return self.path

    def code(self, trial: Trial) -> dict[str, str]:
        """No code of a user's is in the table."""
        return {}

    def _nothing(self, *_: Any) -> None:
        pass

    result = outdated = stop = warned = noted = happened = planned = sought = _nothing


def search(table: Any, peer: tuple[str, str], seed: int, folder: Path) -> list[tuple[int, float]]:
    """(epochs spent, value) of every design that a search finished, in time."""
    sampler, pruner = (Component(name=name) for name in peer)
    values = {key: list(dict.fromkeys(d[i] for d in table)) for i, key in enumerate(KEYS)}
    space = parse_space({k: [int(x) if x.isdigit() else x for x in v] for k, v in values.items()})
    path = folder / f"{'-'.join(peer)}-{seed}.journal"
    study = Study.open(str(path), "s", space, ["maximize"], sampler, pruner, {}, seed=seed)
    config = {"train": {"epochs": EPOCHS // EVERY}}
    designer = Designer([{"seed": s, "fold": 0} for s in range(SEEDS)], config, {}, dict)
    place, told = LookUp(table), study.tell

    def tell(proposal: Any, status: str, values: Any = None, *more: Any) -> None:
        told(proposal, status, values, *more)
        if status == "done":
            place.finished.append((place.epochs, values[0]))

    study.tell = tell  # type: ignore[method-assign]
    rules = Rules(len(table), [Objective("val_accuracy", "maximize")])
    drive(Designs(study, designer, rules, place, place), place, place)  # type: ignore[arg-type]
    study.close()
    path.unlink()
    return place.finished


def _key(choices: Mapping[str, Any]) -> Key:
    return tuple(str(choices[key]) for key in KEYS)


def regret(finished: list[tuple[int, float]], epochs: int, best: float, worst: float) -> float:
    """How far the best design known by then lies below the best of all."""
    return best - max((value for at, value in finished if at <= epochs), default=worst)


def main() -> None:
    """Print regret at shares of the whole grid's epochs, mean and 95 % interval over runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="write the table, and stop")
    parser.add_argument("--runs", type=int, default=50)
    args = parser.parse_args()
    if args.make:
        return make(args.make)
    table = load()
    means = sorted(statistics.fmean(v for v, _ in seeds.values()) for seeds in table.values())
    spread = statistics.fmean(statistics.stdev(v for v, _ in s.values()) for s in table.values())
    whole = len(table) * SEEDS * EPOCHS
    close = sum(mean > means[-1] - 0.005 for mean in means)
    print(f"best {means[-1]:.4f}; {close} designs within 0.005; mean spread of seeds {spread:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            name: [search(table, peer, seed, Path(folder)) for seed in range(args.runs)]
            for name, peer in PEERS.items()
        }
    for share in (1 / 12, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 3 / 4):
        cells = []
        for name, found in runs.items():
            gaps = [regret(f, int(share * whole), means[-1], means[0]) for f in found]
            half = 1.96 * statistics.stdev(gaps) / len(gaps) ** 0.5
            cells.append(f"{name} {statistics.fmean(gaps):.4f} ± {half:.4f}")
        print(f"{share:4.0%} of {whole:,} epochs: {';  '.join(cells)}")


if __name__ == "__main__":
    main()
