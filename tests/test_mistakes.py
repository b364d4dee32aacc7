"""How the command line answers a mistake: one line, exit code 2, nothing started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gymspace.dist.jobs import Failed
from gymspace.dist.slots import StartError
from gymspace.sweep.hold import hold
from tests.cli import Cli
from tests.sweep.launchers import Inside, Script


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Call a command line in a folder of its own."""
    return Cli(tmp_path, monkeypatch, capsys)


MISTAKES = [
    ("model.layrs_mp=2", "model.layrs_mp: unknown key", "did you mean model.layers_mp?"),
    ("+model.layrs_mp=2", "model.layrs_mp: unknown key", "did you mean model.layers_mp?"),
    ("++model.layrs_mp=2", "model.layrs_mp: unknown key", "did you mean model.layers_mp?"),
    ("-m model.layrs_mp=2,3", "model.layrs_mp: unknown key", "did you mean model.layers_mp?"),
    ("-m ++model.layrs_mp=2,3", "model.layrs_mp: unknown key", "did you mean model.layers_mp?"),
    ("sweep.nmae=x", "sweep.nmae: unknown key", "did you mean sweep.name?"),
    ("+sweep.nmae=x", "sweep.nmae: unknown key", "did you mean sweep.name?"),
    ("layers_mp=2", "layers_mp: unknown key", "did you mean model.layers_mp?"),
    ("optim.lr=fast", "optim.lr=fast: must be a number, not text", ""),
    ("train.epochs=1.5", "train.epochs=1.5: must be a whole number", ""),
    ("train.epochs=null", "train.epochs=None: must be a whole number", ""),
    ("-m train.epochs=1,x", "train.epochs=x: must be a whole number, not text", ""),
    ("optim.lr=nan", "optim.lr=nan: must be finite", ""),
    ("model=3", "model=3: must be a group of keys", ""),
    ("model.layer=gatt", "model.layer=gatt: unknown name", "did you mean gat?"),
    ("-m model.layer=gcn,gatt", "model.layer=gatt: unknown name", "did you mean gat?"),
    ("model.l2norm=layers", "model.l2norm=layers: unknown choice", "did you mean layer?"),
    ("model.layer=no.such:Layer", "model.layer=no.such:Layer: ", "no"),
    ("dataset=corra", "dataset=corra: no such config", "did you mean cora?"),
    ("-m dataset=digits,corra", "dataset=corra: unknown name", "did you mean cora?"),
    ("+experiment=node_gird", "experiment=node_gird: no such config", "did you mean node_grid?"),
    ("experiment=node_grid", "experiment: is added with a plus sign: +experiment=<name>", ""),
    ("-m experiment=node_grid", "experiment: is added with a plus sign", ""),
    ("-m +experiment=node_grid,gcn_cora", "experiment: one at a time", ""),
    ("-m seed=1,2", "sweep.space.seed: is a repeat, not a dimension: set sweep.seeds", ""),
    ("-m sweep.seeds=1,2", "sweep.seeds: is a setting", "write a list as sweep.seeds=[1,2]"),
    ("-m workers=1,2", "workers: is a setting, not a dimension", ""),
    ("-m sweep.seeds=0", "sweep.seeds=0: must be 1 or more", ""),
    ("-m model.layers_mp=2,2", "sweep.space.model.layers_mp=2: is given twice", ""),
    ("-m sweep.space={model.layers_mp:[]}", "sweep.space.model.layers_mp: has no choices", ""),
    ("-m sweep.space={model.layers_mp:{choices:[1],alias:loss}}", "alias=loss: is a result", ""),
    ("-m optim.lr=interval(0,1)", "optim.lr: is a continuous range", "another sweep.draw"),
    ("optim.lr=0.1,0.2", "command line: Ambiguous value", "--multirun"),
    ("sweep.name=a/b -m", "sweep.name=a/b: names a folder below `results`", ""),
    ("model.layer.heads=4", "model.layer.heads: is an argument: name its component too", ""),
    ("metric=auc", "metric=auc: chooses the epoch, so metrics=[accuracy] must have it", ""),
    ("model.layers_mp=[", "command line: ", ""),
    ("--frobnicate", "--frobnicate: unknown flag", ""),
    ("--cfg jbo", "--cfg=jbo: unknown choice", "did you mean job?"),
    ("--config-name nope", "command line: Cannot find primary config 'nope'", ""),
    ("budget.tolerance=0.1", "budget.tolerance: goes with a budget: 'budget={params", ""),
    ("budget={match:{foo:1}}", "must match keys of the model, which change its", "not foo"),
    ("budget={tolerance:0.1}", "needs params or match, one of them", ""),
    ("budget=1.5", "budget.params=1.5: must be a whole number", ""),
    ("=3", "command line==3: an override is written key=value", ""),
]


def refused(ended, start, rest=""):
    """One line, exit code 2, nothing run."""
    assert (ended.code, ended.ran, ended.out) == (2, [], "")
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("gymspace: ")
    assert start in ended.err
    assert rest in ended.err


@pytest.mark.parametrize(("words", "start", "rest"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_one_line_and_nothing_starts(cli, words, start, rest):
    ended = cli(*words.split())
    refused(ended, start, rest)
    assert ended.script.places == []
    assert list(cli.folder.iterdir()) == []


BUILT = [
    ("model.layers_mp=0 model.layers_post_mp=0", "model.layers_post_mp=0: needs model.layers_mp"),
    ("-m model.layer=gat model.layer.heads=4,5", "heads"),
    ("-m model.layer=gcn,gat +model.layer.heads=4,2", "'gcn' takes no such argument"),
    ("model.layer={name:gat,haeds:4}", "did you mean heads?"),
    ("dataset=cora", "dataset: Planetoid(name=Cora) misses ind.cora.x"),
    ("data.split={name:random,train:1.0,val:0.0}", "the val split is empty"),
    ("data.split={name:per_class,train:5000}", "asked are 5000 for train"),
    ("data.split=own", "data.split=own: the dataset has no train_mask"),
]


@pytest.mark.parametrize(("words", "text"), BUILT, ids=[words for words, _ in BUILT])
def test_what_only_building_shows_is_told_before_the_first_trial(cli, monkeypatch, words, text):
    """Field case F4: what is missing is noticed only after the sweep ran for hours."""
    from torch_geometric.datasets import Planetoid

    monkeypatch.setattr(Planetoid, "url", (cli.folder / "nowhere").as_uri())
    refused(cli(*words.split(), make=Inside), text)
    assert not list((cli.folder / "results").rglob("*.json"))


def test_a_fold_that_is_not_there_is_told_before_the_first_trial(cli, stand_in):
    words = ("-m", "dataset=cora", f"data.root={stand_in}", "sweep.folds=2")
    refused(cli(*words, make=Inside), "fold=1")


def test_a_missing_gpu_is_told_before_the_first_trial(cli, monkeypatch):
    """Field case F4: a missing back end."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    words = ("device=cuda", "-m", "model.layers_mp=1,2")
    refused(cli(*words, make=Inside), "device=cuda: this machine has no usable GPU: use cpu")


@pytest.mark.parametrize("results", ["file", "file/below", "/proc/nowhere"])
def test_results_that_cannot_be_written_are_told(cli, results):
    (cli.folder / "file").write_text("kept")
    refused(cli(f"results={results}"), f"results={results}/single: cannot be written")
    assert (cli.folder / "file").read_text() == "kept"


def test_another_sweep_is_not_overwritten(cli):
    assert cli("-m", "model.layers_mp=1,2").code == 0
    before = (cli.folder / "results" / "sweep" / "sweep.json").read_bytes()
    ended = cli("-m", "model.layers_mp=1,2", "optim.lr=0.5")
    refused(ended, "optim.lr=0.01, not 0.5", "sweep.extend=true")
    assert (cli.folder / "results" / "sweep" / "sweep.json").read_bytes() == before
    assert cli("-m", "model.layers_mp=1,2", "optim.lr=0.5", "sweep.extend=true").code == 0


def test_a_held_folder_is_told_with_its_process(cli):
    """Field case G1: two launches in the same second share a folder."""
    with hold(Path("results/sweep")):
        refused(cli("-m"), f"is held by process {os.getpid()}")
    assert cli("-m").code == 0


@pytest.mark.parametrize("words", [(), ("+experiment=node_grid", "-m")])
def test_a_rank_of_another_launcher_is_sent_away(cli, monkeypatch, words):
    """Field case F5: child ranks re-run the whole multirun."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused(cli(*words), "dist.ranks=2: gymspace starts the ranks of a trial itself")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert cli(*words).code == 0


def test_a_worker_that_cannot_start_is_one_line(cli):
    def broken():
        script = Script()
        script.run = lambda jobs: (_ for _ in ()).throw(StartError("w", Failed("no torch", "")))
        return script

    refused(cli(make=broken), "gymspace: no torch")


@pytest.mark.parametrize("command", [[sys.executable, "-m", "gymspace"], ["gymspace"]])
def test_the_program_ends_with_the_code_and_the_line(tmp_path, command):
    if command[0] == "gymspace":
        command = [str(Path(sys.executable).with_name("gymspace"))]
    ended = subprocess.run(
        [*command, "model.layer=gatt"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("gymspace: model.layer=gatt: unknown name")
    assert ended.stderr.count("\n") == 1
