"""`python -m gymspace` in processes of its own, to be killed by tests."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.dist.processes import alive, until

MARK = "GYMSPACE_TEST_MARK"


class Program:
    """`python -m gymspace` in a folder, known by a mark that all its processes inherit."""

    def __init__(self, folder: Path, words: Sequence[str]):
        self.mark, self.trials = uuid.uuid4().hex, folder / "results" / "sweep" / "trials"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gymspace", *words],
            cwd=folder,
            env={**os.environ, MARK: self.mark, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def processes(self) -> dict[int, list[bytes]]:
        """Every process with the mark, as pid -> command line."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                marked = f"{MARK}={self.mark}".encode() in (path / "environ").read_bytes()
                if marked and alive(int(path.name)):
                    found[int(path.name)] = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
        return found

    def wait_for_a_trial(self) -> int:
        """Wait until a trial is some epochs on its way; return the process that runs it."""
        pids: list[int] = []

        def underway() -> bool:
            for path in self.trials.glob("*"):
                log, history = path / "trial.log", path / "history.csv"
                if log.exists() and history.exists() and not (path / "result.json").exists():
                    own = [p for p in map(int, started(path)) if p in self.processes()]
                    if own and history.read_text().count("\n") > 2:
                        pids[:] = own[-1:]
            return bool(pids) or self.process.poll() is not None

        assert until(underway, 120)
        assert pids, self.process.communicate()[0]
        return pids[0]

    def kill(self) -> None:
        """Kill it, and see that all that it started ends as well."""
        self.process.kill()
        self.process.wait()
        assert until(lambda: not self.processes(), 30)

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and what was printed."""
        output, _ = self.process.communicate(timeout=120)
        return self.process.returncode, output


def started(trial: Path) -> list[str]:
    """The processes that began a trial, as its log tells."""
    return re.findall(r"pid (\d+)", (trial / "trial.log").read_text())


def statuses(folder: Path) -> Counter[str]:
    """How many results there are of each status; every file must be whole."""
    paths = (folder / "results" / "sweep" / "trials").glob("*/result.json")
    return Counter(json.loads(path.read_text())["status"] for path in paths)
