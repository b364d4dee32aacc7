"""Every experiment runs from its file to its tables, at a size of one epoch and one seed."""

import csv
from functools import partial

import pytest

from gymspace.__main__ import config_dir
from gymspace.records import read_json
from tests.cli import Cli
from tests.sweep.launchers import Inside

FILES = sorted((config_dir() / "experiment").glob("*.yaml"))
TINY = ("train.epochs=1", "sweep.seeds=1", "log.tensorboard=false")


@pytest.fixture
def cli(scratch, monkeypatch, capsys):
    """Call a command line in a folder of its own."""
    return Cli(scratch, monkeypatch, capsys)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def ran_well(cli, ended, name):
    """Every trial is done, and is in the tables; returns the leaderboard."""
    assert (ended.code, ended.err) == (0, "")
    folder = cli.folder / "results" / name
    results = [read_json(path) for path in folder.glob("trials/*/result.json")]
    assert len(results) == len(ended.ran) > 0
    assert {result["status"] for result in results} == {"done"}
    board = rows(folder / "leaderboard.csv")
    assert len(board) == len({result["design"] for result in results})
    assert all(0 <= float(row["test_accuracy_mean"]) <= 1 for row in board)
    assert len(rows(folder / "agg" / "test_best.csv")) == len(board)
    return board


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_experiment_runs_end_to_end(cli, stand_in, file):
    where = (f"data.root={stand_in}", f"data.cache={cli.folder / 'cache'}")
    words = (f"+experiment={file.stem}", "-m", *TINY, *where)
    ended = cli(*words, make=partial(Inside, trains=True))
    ran_well(cli, ended, file.stem)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_experiment_asks_one_question_and_has_the_name_of_its_file(cli, file):
    package, question, *_ = file.read_text().splitlines()
    assert package == "# @package _global_"
    assert question.startswith("# ")
    assert question.endswith("?")
    last = cli.dry(f"+experiment={file.stem}", "-m")[-1]
    assert last == f"they would go to results/{file.stem}"


def test_the_main_job_runs_on_another_dataset(cli, cora_root):
    where = (f"data.root={cora_root}", f"data.cache={cli.folder / 'cache'}")
    narrowed = ("dataset=cora", "model.layers_mp=2,3", "model.layers_pre_mp=1", "model.stage=stack")
    words = ("+experiment=node_grid", "-m", *narrowed, *TINY, *where)
    ended = cli(*words, make=partial(Inside, trains=True))
    board = ran_well(cli, ended, "node_grid")
    found = sorted((row["model.layers_mp"], row["model.layers_post_mp"]) for row in board)
    assert found == [("2", "1"), ("2", "2"), ("3", "1"), ("3", "2")]
    assert {spec.data.split.name for spec in ended.ran} == {"own"}
