"""What reading a large sweep costs: 100,000 synthetic trials, over pandas' own ranking of them.

The peer ranks each dimension's choices with `DataFrame.groupby(...).rank()` on the raw columns and
takes means per choice, without complete groups, ties, tests or tables per task. Median (quartiles)
of ratios, then seconds and peak memory of one run of each analysis in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from interleave import ratio, seconds

from gymspace.analysis.fronts import front
from gymspace.analysis.importance import importance
from gymspace.analysis.ranking import rank_all, summary
from gymspace.analysis.significance import effects
from gymspace.analysis.study import Study, study

CHOICES = {
    "layer": ["gcn", "gat", "sage", "gin"],
    "stage": ["stack", "skipsum", "skipconcat"],
    "layers_mp": [2, 4, 6, 8],
    "dropout": [0.0, 0.3, 0.6],
    "bn": [True, False],
    "act": ["relu", "prelu", "swish"],
    "lr": [0.1, 0.01, 0.001],
    "dim": [64, 128],
}
TASKS, SEEDS = 4, 5


def trials(count: int) -> pd.DataFrame:
    """A random part of the grid of ``CHOICES`` x tasks x seeds, with planted effects."""
    sizes = [len(choices) for choices in CHOICES.values()]
    cells = int(np.prod(sizes)) * TASKS * SEEDS
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.choice(cells, min(count, cells), replace=False))
    *codes, task, seed = np.unravel_index(drawn, (*sizes, TASKS, SEEDS))
    columns = {
        name: np.asarray(choices)[code]
        for (name, choices), code in zip(CHOICES.items(), codes, strict=True)
    }
    score = 0.05 * codes[2] - 0.1 * codes[3] + 0.02 * codes[0] * codes[4]
    noise = rng.normal(0, 0.05, len(drawn))
    frame = pd.DataFrame({"task": task, "seed": seed, **columns, "val_accuracy": score + noise})
    frame["task"] = "task " + frame["task"].astype(str)
    return frame.assign(
        params=1000 * (1 + codes[2]) * (1 + codes[7]) + rng.integers(0, 99, len(drawn))
    )


def ours(frame: pd.DataFrame) -> pd.DataFrame:
    """All dimensions ranked, from the frame on."""
    return summary(rank_all(made(frame), repeats="each"))


def peer(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """The same average ranks, less exact, by pandas alone."""
    found = {}
    for name in CHOICES:
        others = ["task", "seed", *(other for other in CHOICES if other != name)]
        ranks = frame.groupby(others)["val_accuracy"].rank(ascending=False, method="min")
        found[name] = ranks.groupby(frame[name]).mean()
    return found


def made(frame: pd.DataFrame) -> Study:
    """The study of the frame."""
    return study(frame, list(CHOICES), "val_accuracy")


def _effects(one: Study) -> None:
    for ranking in rank_all(one).values():
        effects(ranking.matched)


ANALYSES: dict[str, Callable[[Study], object]] = {
    "study": lambda one: one.levels,
    "rank": rank_all,
    "rank, each repeat": lambda one: rank_all(one, repeats="each"),
    "effects": _effects,
    "fanova": lambda one: importance(one, "fanova"),
    "ped_anova": lambda one: importance(one, "ped_anova"),
    "permutation": lambda one: importance(one, "permutation"),
    "front": front,
}


def alone(name: str, count: int) -> None:
    """Run one analysis and print its seconds and the process's peak memory."""
    frame = trials(count)
    begun = time.perf_counter()
    ANALYSES[name](made(frame))
    taken = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name}: {taken:.2f} s, peak {peak:.2f} GiB, {len(frame):,} trials", flush=True)


def main() -> None:
    """Print the ratios, then each analysis by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=ANALYSES, help="run one analysis in this process")
    args = parser.parse_args()
    if args.only:
        alone(args.only, args.trials)
        return
    frame = trials(args.trials)
    taken = seconds({"ours": lambda: ours(frame), "pandas": lambda: peer(frame)}, args.rounds)
    print(f"rank all dimensions, ours over pandas: {ratio(taken, 'ours', 'pandas')}", flush=True)
    for name in ANALYSES:
        command = [sys.executable, __file__, "--only", name, "--trials", str(args.trials)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
