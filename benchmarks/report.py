"""What reading a sweep costs, from outside, as a share of what we allow ourselves.

The report of 1,000 trials; of 100,000 trials the leaderboard in the terminal, once the folder has
been read, and the report with its size; the peak memory of all of it. Starting Python and all
imports are part of it. The machine should have nothing else to do.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from folders import write_sweep

FEW, MANY = 1_000, 100_000
SMALL_REPORT, TOP, REPORT = 5.0, 3.0, 60.0  # seconds
SIZE, MEMORY = 15 * 2**20, 2 * 2**30  # bytes


class Seen(NamedTuple):
    """Seconds and peak memory in bytes of a process."""

    seconds: float
    peak: float


def results(*words: str | Path) -> Seen:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "gymspace.results", *map(str, words)]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[3:]} ended with exit code {process.returncode}")
    return Seen(time.perf_counter() - begun, usage.ru_maxrss * 1024)


def say(what: str, value: float, allowed: float) -> None:
    """Print one share."""
    print(f"{what}: {value / allowed:.2f} of what is allowed", flush=True)


def main() -> None:
    """Print each figure over what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=MANY, help="of the large sweep")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch) / "few", Path(scratch) / "many"
        write_sweep(few, FEW)
        say(f"report of {FEW:,} trials, seconds", results("report", few).seconds, SMALL_REPORT)
        write_sweep(many, args.trials)
        first = results(many)
        print(f"first reading of {args.trials:,} trials: {first.seconds:.0f} s", flush=True)
        time.sleep(3)  # until no file is too young to be known again
        results(many)
        top = results(many)
        say(f"top of {args.trials:,} trials, seconds", top.seconds, TOP)
        report = results("report", many)
        say(f"report of {args.trials:,} trials, seconds", report.seconds, REPORT)
        say("its size", (many / "report.html").stat().st_size, SIZE)
        peak = max(seen.peak for seen in (first, top, report))
        say("peak memory", peak, MEMORY)


if __name__ == "__main__":
    main()
