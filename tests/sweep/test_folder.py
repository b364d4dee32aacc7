"""The folder of a sweep: who may hold it, what it says of itself, what it keeps of a trial."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from gymspace.errors import ConfigError
from gymspace.records import HISTORY, RESULT, SPEC, read_json, write_json
from gymspace.spec import parse
from gymspace.sweep.folder import Manifest, SweepFolder, base_of
from gymspace.sweep.hold import hold
from gymspace.sweep.plan import Trial
from gymspace.sweep.spaces.space import Dimension

HOLDER = """
import sys
from pathlib import Path
from gymspace.sweep.hold import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def manifest(base=None, space=(), seeds=(0,), folds=(0,)):
    return Manifest("s", "command", "grid", base_of(parse(base or {})), space, seeds, folds)


def adopt(path, about, extend=False):
    with hold(path) as folder:
        folder.describe(folder.admit(about, extend))
    return read_json(path / "sweep.json")


def refused(path, about=None):
    with pytest.raises(ConfigError) as error:
        adopt(path, about or manifest())
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "s")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_held_folder_is_refused_and_that_of_a_dead_process_taken(holder, tmp_path):
    """Field case G1: two launches at once do not share a folder."""
    line = refused(tmp_path / "s")
    assert f"is held by process {holder.pid} on {os.uname().nodename}" in line
    assert read_json(tmp_path / "s" / ".owner")["pid"] == holder.pid
    holder.kill()
    holder.wait()
    assert adopt(tmp_path / "s", manifest())["name"] == "s"


def test_a_folder_is_free_again_whatever_ended_the_sweep(tmp_path):
    with pytest.raises(RuntimeError), hold(tmp_path / "s"):
        raise RuntimeError
    with hold(tmp_path / "s") as folder:
        assert folder.path == tmp_path / "s"
    assert not (tmp_path / "s" / ".owner").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "s"):
        assert refused(path).startswith(f"results={path}: cannot be written (")
    assert "set results=<a folder>" in refused(tmp_path / "file")


def test_a_folder_of_other_things_is_left_as_it_is(tmp_path):
    (tmp_path / "photos").mkdir()
    assert refused(tmp_path).startswith(f"sweep.name={tmp_path}: holds photos and no sweep.json")
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_a_launch_cut_off_before_it_wrote_anything_is_no_hindrance(tmp_path):
    (tmp_path / ".sweep.json.123.part").write_text("{")
    (tmp_path / ".lock").touch()
    assert adopt(tmp_path, manifest())["seeds"] == [0]


def test_a_damaged_sweep_file_is_named_and_may_be_deleted(tmp_path):
    adopt(tmp_path / "s", manifest())
    (tmp_path / "s" / "trials" / "x").mkdir(parents=True)
    (tmp_path / "s" / "sweep.json").write_text('{"version": 1, "na')
    assert "sweep.json is damaged" in refused(tmp_path / "s")
    assert (tmp_path / "s" / "sweep.json").read_text() == '{"version": 1, "na'
    (tmp_path / "s" / "sweep.json").unlink()
    assert adopt(tmp_path / "s", manifest())["version"] == 1


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"train": {"epochs": 3}}, "train.epochs=200, not 3"),
        ({"dataset": "cora"}, "dataset=digits, not cora"),
        ({"model": {"layer": {"name": "gat", "heads": 4}}}, "model.layer=general, not {"),
        ({"dist": {"ranks": 2}}, "dist.ranks=1, not 2"),
    ],
)
def test_another_sweep_is_refused_with_both_values(tmp_path, other, line):
    before = adopt(tmp_path / "s", manifest())
    assert f"this folder holds a sweep with {line}" in refused(tmp_path / "s", manifest(other))
    assert "sweep.extend=true" in refused(tmp_path / "s", manifest(other))
    assert read_json(tmp_path / "s" / "sweep.json") == before
    assert adopt(tmp_path / "s", manifest(other), extend=True)["base"] == before["base"]


@pytest.mark.parametrize(
    "same",
    [{"seed": 9}, {"fold": 1}, {"data": {"root": "/x"}}, {"trial": {"timeout": 5.0}},
     {"log": {"tensorboard": False}}],
)  # fmt: skip
def test_what_no_id_knows_makes_no_other_sweep(tmp_path, same):
    adopt(tmp_path / "s", manifest())
    adopt(tmp_path / "s", manifest(same))


def test_a_base_value_of_a_swept_key_makes_no_other_sweep(tmp_path):
    space = [Dimension("model.layer.heads", (2, 4)), Dimension("optim.lr", (0.1, 0.2))]
    adopt(tmp_path / "s", manifest(space=space))
    gat = {"model": {"layer": {"name": "gat", "heads": 4}}, "optim": {"lr": 0.1}}
    adopt(tmp_path / "s", manifest(gat, space))


def test_a_key_that_is_newer_than_the_folder_had_its_default_there(tmp_path):
    about = adopt(tmp_path / "s", manifest())
    del about["base"]["optim.grad_clip"]
    write_json(tmp_path / "s" / "sweep.json", about)
    adopt(tmp_path / "s", manifest())
    assert "optim.grad_clip=None, not 1" in refused(
        tmp_path / "s", manifest({"optim": {"grad_clip": 1.0}})
    )


def test_narrowing_and_widening_join_their_choices_and_repeats(tmp_path):
    first = [Dimension("a", (1, 2), "x"), Dimension("b", (None,))]
    adopt(tmp_path / "s", manifest(space=first, seeds=(0, 1)))
    second = [Dimension("a", (2, True, 3)), Dimension("c", ({"name": "gat"},))]
    about = adopt(tmp_path / "s", manifest(space=second, seeds=(7, 1), folds=(2,)))
    assert [(d["key"], d["choices"], d["alias"]) for d in about["space"]] == [
        ("a", [1, 2, True, 3], "x"),
        ("b", [None], None),
        ("c", [{"name": "gat"}], None),
    ]
    assert about["aliases"] == {"a": "x"}
    assert (about["seeds"], about["folds"]) == ([0, 1, 7], [0, 2])


@pytest.fixture
def folder(tmp_path):
    return SweepFolder(tmp_path)


@pytest.mark.parametrize(
    ("status", "final"),
    [("done", True), ("diverged", True), ("pruned", True), ("failed", False), ("timeout", False)],
)
def test_only_what_is_final_is_a_result(folder, status, final):
    trial = Trial(parse({}), {}, {})
    path = folder.begin(trial)
    assert folder.result(trial) is None
    (path / HISTORY).touch()
    write_json(path / RESULT, {"status": status})
    assert (folder.result(trial) is not None) == final


@pytest.mark.parametrize("text", ["", '{"status": "do', "[]", "null", "{}", "\x00\x00"])
def test_a_result_that_cannot_be_read_is_none(folder, text):
    """Field case B6: a truncated seed."""
    trial = Trial(parse({}), {}, {})
    (folder.begin(trial) / RESULT).write_text(text)
    assert folder.result(trial) is None


def test_a_trial_that_begins_has_its_spec_and_no_result(folder):
    trial = Trial(parse({"seed": 4}), {"model.layers_mp": 2}, {"m:a": "1"})
    write_json(folder.begin(trial) / RESULT, {"status": "done"})
    path = folder.begin(trial)
    assert [p.name for p in path.iterdir()] == [SPEC]
    kept = json.loads((path / SPEC).read_text())
    assert parse(kept["spec"]) == trial.spec
    assert (kept["trial"], kept["choices"]) == (trial.id, {"model.layers_mp": 2})


def test_a_trial_of_other_code_leaves_nothing_to_be_continued(folder):
    trial = Trial(parse({}), {}, {"m:a": "1"})
    (folder.begin(trial) / "last.pt").touch()
    assert not folder.outdated(trial)
    assert (folder.begin(trial) / "last.pt").exists()
    changed = replace(trial, code={"m:a": "2"})
    assert folder.outdated(changed)
    assert not (folder.begin(changed) / "last.pt").exists()


def test_a_folder_of_imported_results_is_no_sweeps(tmp_path):
    (tmp_path / "s").mkdir()
    write_json(tmp_path / "s" / "sweep.json", {"imported": {"from": "elsewhere"}})
    assert refused(tmp_path / "s") == "sweep.name=s: holds imported results"
    assert read_json(tmp_path / "s" / "sweep.json") == {"imported": {"from": "elsewhere"}}
