"""Every experiment runs from its file to its tables, at a size of one epoch and one seed."""

import csv
import re
from functools import partial

import pytest
import yaml

from gymspace.__main__ import config_dir
from gymspace.records import read_json
from gymspace.results.names import aliases
from gymspace.sweep.spaces.space import parse_space
from tests.cli import Cli
from tests.graph import many
from tests.sweep.launchers import Inside

FILES = sorted((config_dir() / "experiment").glob("*.yaml"))
# Of a large space a few designs.
DRAWN = {
    "node_random": ("sweep.draw.n=1",),
    "node_search": ("sweep.draw.n_trials=3",),
    "design_space": ("sweep.draw.n=8", "model.dim_inner=8"),
    "graph_grid": ("dataset.graphs=40", "model.dim_inner=8", "model.layers_mp=2,8"),
    "synthetic_structure": (
        "dataset.nodes=60",
        "model.dim_inner=8",
        "model.layers_mp=2",
        "model.agg=add,max",
    ),
    "tu_kfold": ("sweep.folds=2", "model.layers_mp=2"),
    "heterophily": ("sweep.folds=2", "model.layers_mp=2", "model.dim_inner=8"),
    "molecules": ("model.layers_mp=2", "model.dim_inner=8"),
    "gps_zinc": ("model.layers_mp=2", "model.dim_inner=8", "encodings=[{name: rwse, steps: 4}]"),
    "gps_peptides": ("model.layers_mp=2", "model.dim_inner=8", "encodings=[{name: lap, k: 2}]"),
}
PROGRESS = re.compile(r"(Processing.*|Done!|.*%\|.*)?")  # what PyG writes as it makes a dataset
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
    said = [line for line in re.split(r"[\r\n]", ended.err) if not PROGRESS.fullmatch(line)]
    assert (ended.code, said) == (0, [])
    folder = cli.folder / "results" / name
    results = [read_json(path) for path in folder.glob("trials/*/result.json")]
    assert len(results) == len(ended.ran) > 0
    assert {result["status"] for result in results} == {"done"}
    board = rows(folder / "leaderboard.csv")
    assert len(board) == len({(result["design"], result["task"]) for result in results})
    (metric,) = {result["metric"] for result in results}
    scores = [float(row[f"test_{metric}_mean"]) for row in board]
    assert all(0 <= score <= 1 for score in scores) or metric in ("mae", "rmse")
    assert len(rows(folder / "agg" / "test_best.csv")) == len(board)
    return board


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_experiment_runs_end_to_end(cli, stand_in, file):
    where = (f"data.root={stand_in}", f"data.cache={cli.folder / 'cache'}")
    words = (f"+experiment={file.stem}", "-m", *TINY, *DRAWN.get(file.stem, ()), *where)
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


def test_the_design_space_is_that_of_graphgym(cli):
    """You et al. 2020, table 1: twelve dimensions, 314,928 designs."""
    file = config_dir() / "experiment" / "design_space.yaml"
    space = parse_space(yaml.safe_load(file.read_text())["sweep"]["space"])
    assert [len(space.dimensions), space.size] == [12, 314_928]
    names = aliases(
        [d.key for d in space.dimensions],
        {d.key: d.alias for d in space.dimensions if d.alias},
        ["accuracy"],
    )
    graphgym = "l_pre l_mp l_post stage bn act drop agg batch optim lr epochs"
    assert list(names.values()) == graphgym.split()
    assert cli.dry("+experiment=design_space", "-m")[0].startswith(
        "96 of 314928 designs, 96 trials"
    )


def test_the_graph_grid_is_that_of_graphgym(cli):
    """You et al. 2020, section 5: 96 designs."""
    assert cli.dry("+experiment=graph_grid", "-m")[0].startswith("96 designs, 288 trials")


def test_the_graph_grid_runs_on_another_dataset(cli):
    many.write_tu(cli.folder / "raw")
    where = (f"data.root={cli.folder / 'raw'}", f"data.cache={cli.folder / 'cache'}")
    narrowed = ("dataset=mutag", "data.split.folds=5", "model.layers_mp=2", "model.agg=add,max")
    words = ("+experiment=graph_grid", "-m", *narrowed, *TINY, "sweep.folds=2", *where)
    ended = cli(*words, make=partial(Inside, trains=True))
    assert len(ran_well(cli, ended, "graph_grid")) == 16
    assert {spec.data.split.name for spec in ended.ran} == {"kfold"}
    assert {(spec.loader.name, spec.model.head.name) for spec in ended.ran} == {
        ("batches", "graph")
    }


def test_the_main_job_runs_on_another_dataset(cli, cora_root):
    where = (f"data.root={cora_root}", f"data.cache={cli.folder / 'cache'}")
    narrowed = ("dataset=cora", "model.layers_mp=2,3", "model.layers_pre_mp=1", "model.stage=stack")
    words = ("+experiment=node_grid", "-m", *narrowed, *TINY, *where)
    ended = cli(*words, make=partial(Inside, trains=True))
    board = ran_well(cli, ended, "node_grid")
    found = sorted((row["model.layers_mp"], row["model.layers_post_mp"]) for row in board)
    assert found == [("2", "1"), ("2", "2"), ("3", "1"), ("3", "2")]
    assert {spec.data.split.name for spec in ended.ran} == {"own"}
