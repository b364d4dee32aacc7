"""Real sweeps in processes of their own, killed in every way and launched again."""

import csv
import os
import re
import signal
from functools import partial

import pytest

from tests.cli import Cli
from tests.dist.processes import until
from tests.programs import Program, started, statuses
from tests.sweep.launchers import Inside

WORDS = (
    "-m", "model.layers_mp=2,3", "sweep.seeds=2", "workers=2", "train.epochs=30",
    "model.dim_inner=16", "log.tensorboard=false",
)  # fmt: skip
TRIALS = 4
CLOCK = ("seconds", "time_iter")


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


KILLS = {
    "kill -9": lambda pid: os.kill(pid, signal.SIGKILL),
    "SIGTERM": lambda pid: os.kill(pid, signal.SIGTERM),
    "Ctrl-C": lambda pid: os.killpg(pid, signal.SIGINT),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_killed_sweep_ends_like_an_undisturbed_one(launch, again, scratch, undisturbed, kill):
    program = launch(scratch, WORDS)
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
    program = launch(scratch, WORDS)
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
    programs = [launch(scratch, WORDS), launch(scratch, WORDS)]
    assert until(lambda: any(p.process.poll() is not None for p in programs), 120)
    programs.sort(key=lambda p: p.process.poll() is None)
    code, output = programs[0].end()
    assert code == 2
    # The first may hold the folder and not yet have told who it is.
    owner = rf"(process {programs[1].process.pid} on \S+|another process):"
    assert re.search(f"is held by {owner}", output)
    assert output.count("\n") == 1
