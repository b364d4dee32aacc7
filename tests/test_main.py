"""The command line: what it means and what it prints."""

import pytest

from gymspace import __main__ as program
from gymspace.dist.jobs import Failed
from gymspace.dist.slots import Slots
from gymspace.records import read_json
from gymspace.sweep.settings import Settings
from tests.cli import Cli
from tests.sweep.launchers import Inside, Script, done

GRID = ("+experiment=node_grid", "-m")


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Call a command line in a folder of its own."""
    return Cli(tmp_path, monkeypatch, capsys)


def test_a_flag_means_the_same_wherever_it_stands(cli):
    words = ("+experiment=node_grid", "model.layers_mp=2,3", "model.act=relu")
    lines = [cli.dry(*words[:n], "-m", *words[n:]) for n in range(4)]
    assert lines[0][0] == "24 designs, 72 trials; the first designs:"
    assert lines == [lines[0]] * 4


@pytest.mark.parametrize(
    ("words", "designs"),
    [
        ((), 36),
        (("model.layers_mp=2,3",), 24),
        (("model.layers_mp=8",), 12),
        (("model.stage=stack", "model.layers_mp=2", "model.layers_pre_mp=1"), 2),
        (("optim.lr=0.1,0.01",), 72),
        (("model.act=relu",), 36),
        (("sweep.seeds=1",), 36),
    ],
)
def test_an_override_pins_narrows_widens_or_adds(cli, words, designs):
    seeds = 1 if "sweep.seeds=1" in words else 3
    line = cli.dry(*GRID, *words)[0]
    assert line == f"{designs} designs, {designs * seeds} trials; the first designs:"


def test_lists_and_hydra_strings_mean_the_same(cli):
    lists = """
sweep:
  space:
    model.layers_mp: [2, 4]
    optim.lr: {choices: [0.01, 0.001], alias: lr}
    model.layers_pre_mp: [1, 2, 3]
    model.stage: [stack, skipsum]
    model.agg: [null, add]
"""
    strings = """
sweep:
  space:
    model.layers_mp: "2,4"
    optim.lr: {choices: "choice(0.01,0.001)", alias: lr}
    model.layers_pre_mp: "range(1,4)"
    model.stage: "stack,skipsum"
    model.agg: null,add
"""
    tails = (("-m", "train.epochs=1"), ("-m", "train.epochs=1", "sweep.name=other"))
    ended = [
        cli(*cli.experiment(name, text), *tail)
        for name, text, tail in zip(("a", "b"), (lists, strings), tails, strict=True)
    ]
    assert [e.code for e in ended] == [0, 0]
    assert len(ended[0].ran) == 48
    assert ended[0].ran == ended[1].ran
    about = [read_json(cli.folder / "results" / name / "sweep.json") for name in ("sweep", "other")]
    assert about[0]["space"] == about[1]["space"]


def test_numbers_are_read_as_meant_and_names_that_yaml_takes_for_others_are_told(cli):
    """Field case G4: `lr: 1e-3` is text in plain YAML, `act: no` is False."""
    ended = cli(*cli.experiment("a", "optim:\n  lr: 1e-3\ntrain:\n  epochs: 1\n"))
    assert ended.ran[0].optim.lr == 0.001
    for number, text in enumerate(
        ("model:\n  act: no\n", "sweep:\n  space:\n    model.act: [relu, no]\n")
    ):
        ended = cli(*cli.experiment(f"b{number}", text), "-m")
        assert ended.code == 2
        assert ended.err.startswith("gymspace: model.act=False: ")


def test_a_swept_dataset_brings_its_own_split(cli):
    ended = cli("-m", "dataset=digits,scale_free", "train.epochs=1")
    found = [(s.dataset.name, s.data.split.name) for s in ended.ran]
    assert found == [("digits", "per_class"), ("scale_free", "random")]


def test_an_override_holds_for_every_dataset_of_a_sweep(cli):
    ended = cli("-m", "data.split=random", "dataset=digits,cora", "model.layers_mp=1,2")
    assert {s.data.split.name for s in ended.ran} == {"random"}
    assert len(ended.ran) == 4


def test_a_pinned_dataset_stays_in_the_folder_of_its_sweep(cli):
    words = cli.experiment("a", "sweep:\n  space:\n    dataset: [digits, scale_free]\n")
    assert len(cli(*words, "-m").ran) == 2
    ended = cli(*words, "-m", "dataset=scale_free")
    assert (ended.code, ended.ran) == (0, [])
    assert "1 trial, 1 of them finished before" in ended.out


def test_components_and_their_arguments_can_be_swept(cli):
    ended = cli("-m", "model.layer=gcn,{name:gat,heads:4},gat")
    assert [s.model.layer.label for s in ended.ran] == ["gcn", "gat(heads=4)", "gat"]
    ended = cli("-m", "model.layer=gat", "model.layer.heads=2,4", "sweep.name=b")
    assert [s.model.layer.label for s in ended.ran] == ["gat(heads=2)", "gat(heads=4)"]


def test_code_of_ones_own_is_reached_without_registration(cli):
    """As CONTRIBUTING.md says."""
    ended = cli("dataset=experiments.datasets:ring", "dataset.nodes=900")
    assert [s.dataset.label for s in ended.ran] == ["experiments.datasets:ring(nodes=900)"]
    ended = cli("-m", "dataset=experiments.datasets:ring", "dataset.nodes=90,900")
    assert [dict(s.dataset.args)["nodes"] for s in ended.ran] == [90, 900]


def test_without_m_the_base_design_runs_once_and_the_rest_is_counted(cli):
    ended = cli("+experiment=node_grid", "train.epochs=5")
    assert ended.code == 0
    assert "the base design, once; 36 designs of its space wait behind -m" in ended.out
    assert [(s.seed, s.train.epochs) for s in ended.ran] == [(0, 5)]
    assert (cli.folder / "results" / "single" / "trials.csv").exists()


def test_seeds_count_from_the_base_seed(cli):
    """Field case G3: a seed of 0 is a seed."""
    assert [s.seed for s in cli("seed=0").ran] == [0]
    assert [s.seed for s in cli("-m", "seed=0", "sweep.seeds=2", "sweep.name=a").ran] == [0, 1]
    assert [s.seed for s in cli("-m", "seed=5", "sweep.seeds=2", "sweep.name=b").ran] == [5, 6]
    assert [s.seed for s in cli("-m", "sweep.seeds=[3,0]", "sweep.name=c").ran] == [3, 0]


def test_more_seeds_run_only_the_new_ones(cli):
    words = ("-m", "model.layers_mp=1,2")
    assert len(cli(*words, "sweep.seeds=1").ran) == 2
    ended = cli(*words, "sweep.seeds=2")
    assert [(s.model.layers_mp, s.seed) for s in ended.ran] == [(1, 1), (2, 1)]
    assert "4 trials, 2 of them finished before" in ended.out
    board = (cli.folder / "results" / "sweep" / "leaderboard.csv").read_text()
    assert board.count("\n") == 3


def test_a_sweep_cut_off_goes_on_to_its_planned_number(cli):
    """Field case G5: killed in trial 1 of a 3-cell grid, then resumed: 3 distinct trials."""

    def killed(spec):
        raise KeyboardInterrupt

    words = ("-m", "model.layers_mp=1,2,3")
    assert cli(*words, make=lambda: Script(killed)).code == 130
    assert len(cli(*words).ran) == 3
    trials = cli.folder / "results" / "sweep" / "trials"
    done = [read_json(path / "result.json")["status"] for path in trials.iterdir()]
    assert done == ["done"] * 3


def test_a_failure_shows_in_the_exit_code_and_the_rest_go_on(cli):
    """Field case G2: one failing job hides the rest."""

    def answer(spec):
        return Failed("ValueError: no", "") if spec.model.layers_mp == 1 else done(spec)

    ended = cli("-m", "model.layers_mp=1,2,3", make=lambda: Script(answer))
    assert (ended.code, len(ended.ran)) == (1, 3)
    assert "ValueError: no" in ended.out


def test_a_key_that_does_nothing_is_warned_of_before_the_sweep(cli):
    """Field case A5: `agg` under a layer that ignores it."""
    words = ("-m", "model.layer=gcn,general", "model.agg=add,mean", "train.epochs=1")
    ended = cli(*words, make=Inside)
    warning = "warning: model.agg is swept, but changes nothing with model.layer=gcn\n"
    assert ended.out.startswith(warning)
    assert ended.out.count("warning:") == 1
    assert len(ended.ran) == 4


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (("--help",), ("gymspace explores", "experiment: ", "node_grid", "layers_post_mp: 1")),
        (("--cfg", "job"), ("layers_mp: 2", "dataset:\n  name: digits", "results: results")),
        (("+experiment=node_grid", "--cfg", "job", "-m"), ("name: node_grid", "alias: l_mp")),
        (("--cfg=job", "--package", "model"), ("# @package model", "layer: general")),
        (("--info",), ("Installed Hydra Plugins", "GymspaceSweeper")),
        (("--info", "searchpath"), ("Provider", str(program.config_dir()))),
        (("dataset=cora", "--info", "defaults-tree"), ("dataset: cora",)),
        (("--version",), ("gymspace ",)),
        (("--hydra-help",), ("Hydra",)),
    ],
)
def test_what_hydra_tells_is_told(cli, words, texts):
    ended = cli(*words)
    assert (ended.code, ended.err, ended.script.places) == (0, "", [])
    assert [text for text in texts if text not in ended.out] == []
    assert list(cli.folder.iterdir()) == []


def test_slots_are_as_many_as_workers_says_or_the_cores_allow(monkeypatch):
    made = []
    monkeypatch.setattr(program, "Slots", lambda *a, **k: made.append((a, k)) or Slots)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    for workers, ranks in [(None, 1), (None, 3), (None, 16), (5, 2)]:
        program.launcher(Settings(workers=workers))(ranks, "cpu")
    assert [arguments[1:] for arguments, _ in made] == [(8, 1), (2, 3), (1, 16), (5, 2)]
    assert {options["device"] for _, options in made} == {"cpu"}
