"""Many kills at random during one search: is every design finished once, and is nothing left over?

The parent or one of its ranks is killed with SIGKILL at a random moment, again and again; a search
whose parent was killed is started anew. At the end the study and the leaderboard are compared.
"""

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

DESIGNS, SEEDS, MARK = 20, 3, "GYMSPACE_KILL"
WORDS = (
    "-m", f"sweep.draw={{name: optuna, n_trials: {DESIGNS}}}", "sweep.pruner=median",
    "model.layers_mp=1,2,3,4", "model.stage=stack,skipsum,skipconcat", "model.layers_pre_mp=1,2",
    f"sweep.seeds={SEEDS}", "workers=2", "train.epochs=200", "log.tensorboard=false",
)  # fmt: skip


def start(folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """The search in ``folder``; all its processes inherit ``mark``."""
    command = [sys.executable, "-m", "gymspace", *WORDS]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env={**os.environ, MARK: mark}, stdout=quiet)


def marked(mark: str) -> list[int]:
    """Processes with the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
    return found


def kill_one(process: subprocess.Popen[bytes], mark: str, rng: random.Random) -> str:
    """Kill the parent, or another of its processes; say which."""
    others = [pid for pid in marked(mark) if pid != process.pid]
    victim = process.pid if rng.random() < 0.5 or not others else rng.choice(others)
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    return "parent" if victim == process.pid else "child"


def faults(folder: Path) -> list[str]:
    """What is wrong at the end, one line each."""
    storage = JournalStorage(JournalFileBackend(str(folder / "results/sweep/study.journal")))
    trials = optuna.load_study(study_name="sweep", storage=storage).trials
    ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    designs = Counter(t.user_attrs["design"] for t in ended if "same_as" not in t.user_attrs)
    wrong = [f"{d} ended {n} times" for d, n in designs.items() if n > 1]
    wrong += [f"{len(designs)} designs, not {DESIGNS}"] * (len(designs) != DESIGNS)
    wrong += [f"trial {t.number} runs" for t in trials if t.state == TrialState.RUNNING]
    with (folder / "results/sweep/leaderboard.csv").open(newline="") as file:
        rows = {row["design"]: row for row in csv.DictReader(file)}
    for trial in ended:
        row = rows.get(trial.user_attrs["design"].partition("-")[2], {})
        if (trial.state == TrialState.COMPLETE) != bool(row.get("rank")):
            wrong.append(f"trial {trial.number} is {trial.state.name}, its row says {row}")
        elif row["rank"] and abs(float(row["val_accuracy_mean"]) - trial.values[0]) > 1e-9:
            wrong.append(f"trial {trial.number}: {trial.values} against {row['val_accuracy_mean']}")
    return wrong


def main() -> None:
    """Kill as often as asked, then let the search end, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng, mark, done = random.Random(args.seed), uuid.uuid4().hex, Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = start(folder, mark)
        while done.total() < args.kills:
            time.sleep(rng.uniform(0.0, 7.0))
            if process.poll() == 0:
                break  # nothing is left to kill it at
            if process.poll() is not None:
                process = start(folder, mark)
                continue
            done[kill_one(process, mark, rng)] += 1
        code = process.wait()
        while code:
            code = start(folder, mark).wait()
        time.sleep(1.0)
        wrong = faults(folder) + [f"process {pid} is left" for pid in marked(mark)]
    print(f"{done['parent']} kills of the parent, {done['child']} of a child: {len(wrong)} faults")
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
