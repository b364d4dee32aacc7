"""Real searches killed in the middle, alone and beside another, and taken up again."""

import csv
import os
import signal
from functools import partial

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from tests.cli import Cli
from tests.programs import statuses
from tests.sweep.launchers import Inside

DESIGNS, SEEDS = 6, 2
WORDS = (
    "-m", f"sweep.draw={{name: optuna, n_trials: {DESIGNS}}}", "sweep.pruner=median",
    "model.layers_mp=1,2,3", "model.stage=stack,skipsum,skipconcat", f"sweep.seeds={SEEDS}",
    "workers=2", "train.epochs=30", "model.dim_inner=16", "log.tensorboard=false",
)  # fmt: skip


@pytest.fixture
def again(scratch, monkeypatch, capsys):
    """Give the same command once more, in this process, and say how it ended."""
    cli = Cli(scratch, monkeypatch, capsys)
    return lambda: cli(*WORDS, make=partial(Inside, trains=True))


def finished(folder):
    """Designs by state, as the study has them; values by design for those that are complete."""
    storage = JournalStorage(JournalFileBackend(str(folder / "results/sweep/study.journal")))
    trials = optuna.load_study(study_name="sweep", storage=storage).trials
    ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    first = {t.user_attrs["design"]: t for t in ended if "same_as" not in t.user_attrs}
    running = [t.number for t in trials if t.state == TrialState.RUNNING]
    return first, running


def require_whole(folder):
    """Every design finished once, study and leaderboard say the same of each."""
    designs, running = finished(folder)
    assert (len(designs), running) == (DESIGNS, [])
    with (folder / "results/sweep/leaderboard.csv").open(newline="") as file:
        rows = {row["design"]: row for row in csv.DictReader(file)}
    assert len(rows) == DESIGNS
    for design, trial in designs.items():
        row = rows[design.partition("-")[2]]
        assert (row["rank"] != "") == (trial.state == TrialState.COMPLETE)
        if row["rank"]:
            assert float(row["val_accuracy_mean"]) == pytest.approx(trial.values[0])
            assert int(row["n_done"]) == SEEDS


def test_a_search_killed_again_and_again_finishes_each_design_once(launch, again, scratch):
    """Field case G5: killed, then resumed."""
    for end in ("parent", "rank"):
        program = launch(scratch, WORDS)
        rank = program.wait_for_a_trial()
        if end == "rank":
            os.kill(rank, signal.SIGKILL)  # its trial is tried again at once
            program.wait_for_a_trial()
        program.kill()
    ended = again()
    assert (ended.code, ended.err) == (0, "")
    require_whole(scratch)
    assert set(statuses(scratch)) <= {"done", "pruned"}
    assert again().ran == []


def test_a_search_goes_on_when_the_process_beside_it_is_killed(launch, again, scratch):
    programs = [launch(scratch, WORDS), launch(scratch, WORDS)]
    for program in programs:
        program.wait_for_a_trial()
    programs[0].kill()
    code, output = programs[1].end()
    assert code == 0, output
    assert again().code == 0
    require_whole(scratch)
    assert set(statuses(scratch)) <= {"done", "pruned"}
