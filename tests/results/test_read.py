"""Reading a sweep's folder: strays, halves and damage change nothing."""

import json
import math
import shutil

import pytest

from gymspace.errors import ConfigError
from gymspace.results.read import read_history, read_sweep, read_trials


def test_record_joins_result_and_spec(sweep):
    study = sweep()
    trial = study.add({"model.stage": "stack"}, val=[0.5, 0.75])
    (record,) = read_trials(study.folder)
    assert record["trial"] == trial
    assert record["choices"] == {"model.stage": "stack"}
    assert record["spec"]["optim"]["lr"] == 0.01
    assert record["val_accuracy"] == 0.75


def test_damage_is_passed_over(sweep):
    """Field case B6: truncated, half-written, foreign and copied folders are no trials."""
    study = sweep()
    trials = study.folder / "trials"
    good, cut, half, bytes_ = (study.add(seed=seed) for seed in range(4))
    text = (trials / cut / "result.json").read_text()
    (trials / cut / "result.json").write_text(text[:50])
    (trials / half / "spec.json").unlink()
    (trials / bytes_ / "result.json").write_bytes(b"\xff\xfe{}")
    shutil.copytree(trials / good, trials / f"{good} copy")
    (trials / "stray").mkdir()
    (trials / "notes.txt").write_text("x")
    (trials / good / "result.json.tmp").write_text("{")
    assert [record["trial"] for record in read_trials(study.folder)] == [good]


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"trial": 1}', "NaN"])
def test_json_that_is_no_result(sweep, text):
    """Field case B6."""
    study = sweep()
    trial = study.add()
    (study.folder / "trials" / trial / "result.json").write_text(text)
    assert read_trials(study.folder) == []


@pytest.mark.parametrize("made", [False, True])
def test_not_a_sweep(tmp_path, made):
    folder = tmp_path / "x"
    if made:
        folder.mkdir()
    with pytest.raises(ConfigError, match=r"^results=.*x: ") as error:
        read_trials(folder)
    assert "\n" not in str(error.value)


def test_damaged_sweep_file_is_told(sweep):
    study = sweep()
    (study.folder / "sweep.json").write_text('{"seeds": [0')
    with pytest.raises(ConfigError, match=r"sweep\.json is damaged"):
        read_sweep(study.folder)


def test_history_of_a_killed_and_resumed_trial(tmp_path):
    """Rows cut short are dropped, an epoch written twice counts once, an empty cell is nan."""
    folder = tmp_path / "trials" / "t"
    folder.mkdir(parents=True)
    (folder / "history.csv").write_text("epoch,val_auc\n0,0.1\n1,\n2,0.3\n1,0.2\n3\n4,0.")
    history = read_history(tmp_path, "t")
    assert history == {"epoch": [0, 1, 2], "val_auc": [0.1, 0.2, 0.3]}
    (folder / "history.csv").write_text("epoch,val_auc\n0,\n")
    assert math.isnan(read_history(tmp_path, "t")["val_auc"][0])


def test_no_history(tmp_path):
    assert read_history(tmp_path, "t") == {}


def test_missing_fold_is_the_first(sweep):
    study = sweep()
    path = study.folder / "trials" / study.add() / "result.json"
    result = json.loads(path.read_text())
    del result["fold"]
    path.write_text(json.dumps(result))
    assert read_trials(study.folder)[0]["fold"] == 0
