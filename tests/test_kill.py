"""Real sweeps in processes of their own, killed in every way and launched again."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.cli import Cli
from tests.dist.processes import alive, until
from tests.sweep.launchers import Inside

WORDS = (
    "-m", "model.layers_mp=2,3", "sweep.seeds=2", "workers=2", "train.epochs=30",
    "model.dim_inner=16", "log.tensorboard=false",
)  # fmt: skip
TRIALS = 4
CLOCK = ("seconds", "time_iter")
MARK = "GYMSPACE_TEST_MARK"


class Program:
    """`python -m gymspace` in a folder, known by a mark that all its processes inherit."""

    def __init__(self, folder, words):
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

    def processes(self):
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

    def wait_for_a_trial(self):
        """Wait until a trial is some epochs on its way; return the process that runs it."""
        pids = []

        def underway():
            for path in self.trials.glob("*"):
                log, history = path / "trial.log", path / "history.csv"
                if log.exists() and history.exists() and not (path / "result.json").exists():
                    own = [p for p in map(int, started(path)) if p in self.processes()]
                    if own and history.read_text().count("\n") > 2:
                        pids[:] = own[-1:]
            return pids or self.process.poll() is not None

        assert until(underway, 120)
        assert pids, self.process.communicate()[0]
        return pids[0]

    def end(self):
        """Wait for the end; return the exit code and what was printed."""
        output, _ = self.process.communicate(timeout=120)
        return self.process.returncode, output


def started(trial):
    """The processes that began a trial, as its log tells."""
    return re.findall(r"pid (\d+)", (trial / "trial.log").read_text())


@pytest.fixture
def launch():
    """Start the program; whatever the test leaves of it is killed."""
    programs = []

    def start(folder, words=WORDS):
        programs.append(Program(folder, words))
        return programs[-1]

    yield start
    for program in programs:
        program.process.kill()
        program.process.communicate()
        assert until(lambda program=program: not program.processes())


@pytest.fixture
def again(scratch, monkeypatch, capsys):
    """Give the same command once more, in this process: ends it well with ``missing`` trials?"""
    cli = Cli(scratch, monkeypatch, capsys)

    def run(missing):
        ended = cli(*WORDS, make=partial(Inside, trains=True))
        return (ended.code, len(ended.ran), statuses(scratch)) == (0, missing, {"done": TRIALS})

    return run


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of the same sweep, run in peace."""
    folder = tmp_path_factory.mktemp("undisturbed")
    program = Program(folder, WORDS)
    code, output = program.end()
    assert code == 0, output
    return folder


def tables(folder):
    """All tables by name, without the columns that tell of time."""
    found = {}
    sweep = folder / "results" / "sweep"
    for path in sorted(sweep.rglob("*.csv")):
        if "trials" not in path.relative_to(sweep).parts:
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            kept = [{k: v for k, v in row.items() if not k.startswith(CLOCK)} for row in rows]
            found[str(path.relative_to(sweep))] = kept
    return found


def statuses(folder):
    """How many results there are of each status; every file must be whole."""
    paths = (folder / "results" / "sweep" / "trials").glob("*/result.json")
    return Counter(json.loads(path.read_text())["status"] for path in paths)


KILLS = {
    "kill -9": lambda pid: os.kill(pid, signal.SIGKILL),
    "SIGTERM": lambda pid: os.kill(pid, signal.SIGTERM),
    "Ctrl-C": lambda pid: os.killpg(pid, signal.SIGINT),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_killed_sweep_ends_like_an_undisturbed_one(launch, again, scratch, undisturbed, kill):
    program = launch(scratch)
    program.wait_for_a_trial()
    assert len(program.processes()) == 4  # the sweep, the nursery, two ranks
    KILLS[kill](program.process.pid)
    code, output = program.end()
    assert code == (-signal.SIGKILL if kill == "kill -9" else 130), output
    assert until(lambda: not program.processes(), 30)
    assert not list(scratch.glob("gymspace-*"))
    before = statuses(scratch)
    assert set(before) <= {"done"}
    assert before["done"] < TRIALS
    assert again(TRIALS - before["done"])
    assert tables(scratch) == tables(undisturbed)


def test_a_rank_that_is_killed_costs_one_trial(launch, again, scratch, undisturbed):
    program = launch(scratch)
    os.kill(program.wait_for_a_trial(), signal.SIGKILL)
    code, output = program.end()
    assert code == 1, output
    assert "killed by signal 9 (SIGKILL)" in output
    assert not program.processes()
    assert statuses(scratch) == {"done": TRIALS - 1, "failed": 1}
    assert again(1)
    assert tables(scratch) == tables(undisturbed)


def test_ranks_do_not_run_the_sweep_again(launch, scratch):
    """Field case F5: child ranks re-run the whole multirun."""
    words = ("-m", "model.layers_mp=2,3", "dist.ranks=2", "workers=1", "train.epochs=20")
    program = launch(scratch, (*words, "log.tensorboard=false"))
    program.wait_for_a_trial()
    commands = program.processes()
    assert len(commands) == 4  # the sweep, the nursery, two ranks
    assert [pid for pid, command in commands.items() if b"dist.ranks=2" in command] == [
        program.process.pid
    ]
    code, output = program.end()
    assert code == 0, output
    assert output.count("2 trials\n") == 1
    assert statuses(scratch) == {"done": 2}
    assert [len(started(path)) for path in program.trials.glob("*")] == [1, 1]


def test_two_launches_at_once_do_not_share_a_folder(launch, scratch):
    """Field case G1: two launches in the same second share a folder."""
    programs = [launch(scratch), launch(scratch)]
    assert until(lambda: any(p.process.poll() is not None for p in programs), 120)
    programs.sort(key=lambda p: p.process.poll() is None)
    code, output = programs[0].end()
    assert code == 2
    # The first may hold the folder and not yet have told who it is.
    owner = rf"(process {programs[1].process.pid} on \S+|another process):"
    assert re.search(f"is held by {owner}", output)
    assert output.count("\n") == 1
