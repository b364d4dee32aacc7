"""What a sweep costs besides its trials, seen from outside, as a share of what we allow ourselves.

1,000 tiny designs against 2: how much later the first trial starts, how much more memory the
parent needs. And a finished sweep of 108 trials run again, against a command that only composes.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from interleave import seconds, spread

FIRST, MEMORY, AGAIN = 10.0, 50.0, 5.0
TINY = ("train.epochs=1", "log.tensorboard=false", "model.dim_inner=4")


class Seen(NamedTuple):
    """Seconds until the first trial and until the end, and the parent's peak memory in MB."""

    first: float
    total: float
    peak: float


def gymspace(*arguments: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "gymspace", *arguments]


def watch(results: Path, rates: int, decays: int) -> Seen:
    """Run a sweep of ``rates`` x ``decays`` designs on digits and watch its process."""
    name = f"tiny-{rates}-{decays}"
    space = (
        f"optim.lr={','.join(f'{0.01 * (i + 1) / rates:.8f}' for i in range(rates))}",
        f"optim.weight_decay={','.join(f'{1e-3 * i / decays:.8f}' for i in range(decays))}",
    )
    command = gymspace("-m", f"results={results}", f"sweep.name={name}", *TINY, *space)
    begun, first, peak = time.perf_counter(), None, 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if first is None and any((results / name / "trials").glob("*")):
            first = time.perf_counter() - begun
        peak = max(peak, _peak(process.pid))
        time.sleep(0.02)
    if process.returncode or first is None:
        raise RuntimeError(f"the sweep ended with exit code {process.returncode}")
    return Seen(first, time.perf_counter() - begun, peak)


def _peak(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(x.split()[1]) / 1024 for x in lines if x.startswith("VmHWM")), 0.0)


def again(results: Path, rounds: int) -> list[float]:
    """Seconds that running a finished `node_grid` takes beyond composing a config, by round."""
    grid = gymspace("-m", "+experiment=node_grid", f"results={results}", *TINY)
    commands = {"again": grid, "compose": gymspace("--cfg", "job")}
    peers = {
        name: lambda command=command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name, command in commands.items()
    }
    peers["again"]()
    taken = seconds(peers, rounds, warm=0)
    return [a - b for a, b in zip(taken["again"], taken["compose"], strict=True)]


def main() -> None:
    """Print each figure over what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of running a finished sweep again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        few, many = watch(results, 2, 1), watch(results, 40, 25)
        later, more = many.first - few.first, many.peak - few.peak
        print(f"first of 1,000 trials, later than of 2: {later / FIRST:.2f} of {FIRST:.0f} s")
        print(f"memory of the parent, more than for 2: {more / MEMORY:.2f} of {MEMORY:.0f} MB")
        taken = [s / AGAIN for s in again(results, args.rounds)]
        print(f"108 finished trials again, beyond composing: {spread(taken)} of {AGAIN:.0f} s")


if __name__ == "__main__":
    main()
