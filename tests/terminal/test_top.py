"""The terminal: what it says, and how it answers mistakes."""

import csv
import io

import pytest
from rich.console import Console

from gymspace.results.__main__ import main
from gymspace.terminal.top import summary


@pytest.fixture
def study(sweep, monkeypatch):
    """Three designs x two seeds, one seed diverged, one failed twice."""
    monkeypatch.setenv("COLUMNS", "100")
    study = sweep(seeds=[0, 1], folds=[0], aliases={"model.layers_mp": "l_mp"})
    for seed in (0, 1):
        for layers, score in ((2, 0.8), (4, 0.9)):
            status = "diverged" if (layers, seed) == (4, 1) else "done"
            choices = {"model.layers_mp": layers, "optim.lr": 1e-05}
            study.add(choices, seed=seed, val=[score + seed / 100], status=status)
        choices = {"model.layers_mp": 6, "optim.lr": 0.1}
        study.add(choices, seed=seed, status="failed", error="ValueError: [red] no memory")
    return study


def run(capsys, *arguments):
    code = main([str(part) for part in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_top_says_what_matters(study, capsys):
    (study.folder / "trials" / "half").mkdir()
    code, out, err = run(capsys, study.folder)
    assert (code, err) == (0, "")
    assert "3 designs, 6 trials: 3 done, 2 failed, 1 diverged, 1 unfinished" in out
    best = next(line for line in out.splitlines() if line.split()[:1] == ["1"])
    assert best.split()[:5] == ["1", "4", "1e-05", "0.9000", "0.9000"]
    assert "0.8050 ± 0.0071" in out
    assert "ValueError: [red] no memory" in out
    assert "means of accuracy over ranked designs" in out
    assert max(map(len, out.splitlines())) <= 100 or str(study.folder) in out


def test_failures_are_counted_or_listed(study, capsys):
    """Field case B4."""
    code, out, _ = run(capsys, "failures", study.folder)
    assert code == 0
    line = next(line for line in out.splitlines() if "ValueError: [red] no memory" in line)
    assert line.split()[:2] == ["2", "failed"]
    assert line.split()[-1] in {path.name for path in (study.folder / "trials").iterdir()}
    code, out, _ = run(capsys, "failures", study.folder, "--each")
    assert out.count("ValueError: [red] no memory") == 2
    assert out.count("diverged") == 2  # in the counts and in the list


@pytest.mark.parametrize(
    ("where", "layers"),
    [
        ("l_mp=4", ["4"]),
        ("model.layers_mp!=4", ["2", "6"]),
        ("optim.lr = 1e-5", ["4", "2"]),
        ("lr>0.01", ["6"]),
        ("params<=100", ["4", "2", "6"]),
        ("val_accuracy_mean >= 0.85", ["4"]),
    ],
)
def test_where(study, capsys, where, layers):
    code, out, _ = run(capsys, study.folder, "--csv", "--where", where)
    assert code == 0
    assert [row["model.layers_mp"] for row in rows(out)] == layers


def test_sort_and_top(study, capsys):
    command = ("top", "--csv", study.folder, "--sort", "l_mp")
    layers = [row["model.layers_mp"] for row in rows(run(capsys, *command)[1])]
    assert layers == ["2", "4", "6"]
    layers = [row["model.layers_mp"] for row in rows(run(capsys, *command, "--reverse")[1])]
    assert layers == ["6", "4", "2"]
    best = rows(run(capsys, study.folder, "--csv", "--sort", "val_accuracy_mean", "--top", 1)[1])
    assert [row["model.layers_mp"] for row in best] == ["4"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--sort", "nope"), "--sort=nope: no such column"),
        (("--where", "lr"), "--where=lr: is not COLUMN=VALUE"),
        (("--where", "lrr=1"), "did you mean lr?"),
        (("--where", "lr<abc"), "< needs a number"),
        (("--where", "l_mp=3"), "matches nothing; choices: 2, 4, 6"),
        (("--top", "0"), "--top=0"),
        (("--topp", "1"), "unrecognized arguments"),
    ],
)
def test_mistakes_are_one_line(study, capsys, arguments, says):
    code, out, err = run(capsys, study.folder, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_no_sweep_and_no_trial(sweep, tmp_path, capsys):
    code, _, err = run(capsys, tmp_path)
    assert code == 2
    assert "not a sweep's folder" in err
    empty = sweep("empty")
    code, _, err = run(capsys, empty.folder)
    assert code == 2
    assert "no finished trial yet" in err


def test_several_tasks_have_a_table_each(sweep, capsys):
    study = sweep()
    for dataset in ("cora", "digits"):
        for layers in (2, 3):
            study.add({"dataset": dataset, "model.layers_mp": layers})
    out = run(capsys, study.folder)[1]
    assert out.count("accuracy (higher is better)") == 2
    assert ": cora" in out
    one = run(capsys, study.folder, "--where", "dataset=cora")[1]
    assert ": digits" not in one
    assert "means of accuracy over ranked designs" in one


def test_narrow_console_folds_the_choices(study):
    console = Console(width=72, record=True, file=io.StringIO())
    summary(study.folder, console)
    text = console.export_text()
    assert "l_mp=4" in text
    assert "0.8050 ± 0.0071" in text


def test_summary_of_a_sweep_where_nothing_finished(sweep):
    study = sweep()
    study.add(status="failed", error="ValueError: x")
    console = Console(width=100, record=True, file=io.StringIO())
    summary(study.folder, console)
    assert "no design has a finished trial" in console.export_text()


def test_values_drawn_from_a_range_have_no_means(sweep, capsys):
    study = sweep()
    for rate, layers in ((0.0231678345123, 2), (0.1007654321, 3)):
        study.add({"model.dropout": rate, "model.layers_mp": layers}, val=[rate])
    code, out, _ = run(capsys, study.folder)
    means = out[out.index("means of") :]
    assert (code, "layers_mp" in means, "dropout" in means) == (0, True, False)
