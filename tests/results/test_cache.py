"""The cache of a large sweep: what it gives is what reading gives, whatever happened meanwhile."""

import json
import os
import shutil

import pytest

from gymspace.results import cache, read
from gymspace.results.view import load_view, narrowed

STAGES = ("stack", "skipsum", "skipconcat")


@pytest.fixture
def study(sweep, monkeypatch):
    """A sweep with a failed trial; every sweep counts as large, and every file as settled."""
    monkeypatch.setattr(cache, "FEWEST", 1)
    monkeypatch.setattr(read, "_SETTLED", -(10**18))
    made = sweep(aliases={"model.stage": "s"}, seeds=[0, 1])
    for at, stage in enumerate(STAGES):
        choices = {"model.stage": stage, "model.agg": None if at else "max"}
        for seed in (0, 1):
            made.add(choices, seed=seed, val=[0.5 + 0.1 * at + 0.01 * seed])
    made.add({"model.stage": "stack"}, seed=5, status="failed", error="out of memory")
    return made


def seen(view):
    rows = [
        [{k: repr(v) for k, v in row.items() if v is not None} for row in table.rows]
        for table in (view.leaderboard, view.trials)
    ]
    return rows, list(view.records), view.aliases, view.unfinished


def read_anew(folder):
    """What is in the folder, without the cache and without writing one."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(cache.FILE))
    try:
        return seen(load_view(copy, write=False))
    finally:
        shutil.rmtree(copy)


def result(study, at=0):
    return sorted((study.folder / "trials").glob("*/result.json"))[at]


def kept(study):
    return (study.folder / cache.FILE).stat().st_ino


def test_a_second_reading_is_the_first_one(study, monkeypatch):
    first = seen(load_view(study.folder))
    assert first == read_anew(study.folder)
    monkeypatch.setattr(read, "_record", None)  # no trial is read again, no table made
    monkeypatch.setattr(cache, "leaderboard_table", None)
    assert seen(load_view(study.folder)) == first


def test_a_trial_that_changed_is_read_again(study):
    load_view(study.folder)
    path = result(study)
    path.write_text(path.read_text().replace('"seconds": 2.0', '"seconds": 3.0'))  # as long
    assert seen(load_view(study.folder)) == read_anew(study.folder)
    assert 3.0 in [record["seconds"] for record in load_view(study.folder).records]


def test_time_and_size_alone_prove_nothing(study):
    """As a copy that keeps times leaves it."""
    path = result(study)
    before = path.stat()
    load_view(study.folder)
    path.write_text(path.read_text().replace('"seconds": 2.0', '"seconds": 4.0'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert 4.0 in [record["seconds"] for record in load_view(study.folder).records]


def test_new_removed_and_halved_trials_are_seen(study):
    load_view(study.folder)
    study.add({"model.stage": "stack"}, seed=9)
    result(study, 1).unlink()
    result(study, 2).write_text("{")
    view = load_view(study.folder)
    assert seen(view) == read_anew(study.folder)
    assert view.unfinished == 2


def test_what_is_too_young_is_not_trusted(study, monkeypatch):
    monkeypatch.setattr(read, "_SETTLED", 10**19)
    monkeypatch.setattr(read, "_stamp", lambda path: (1, 2, 3))  # nothing tells what has changed
    load_view(study.folder)
    result(study).write_text(result(study).read_text().replace("2.0", "7.0"))
    assert 7.0 in [record["seconds"] for record in load_view(study.folder).records]


def test_sweep_json_counts(study):
    load_view(study.folder)
    (study.folder / "sweep.json").write_text(json.dumps({"seeds": [0, 1, 2], "aliases": {}}))
    assert seen(load_view(study.folder)) == read_anew(study.folder)
    assert "stage" in load_view(study.folder).aliases.values()


@pytest.mark.parametrize("damage", ["cut", "bytes", "empty", "code"])
def test_a_damaged_cache_is_none(study, damage, monkeypatch):
    whole = seen(load_view(study.folder))
    path = study.folder / cache.FILE
    content = path.read_bytes()
    damaged = {"cut": content[: len(content) // 2], "bytes": b"\xff\n\xfe", "empty": b""}
    if damage == "code":
        monkeypatch.setattr(cache, "_code", lambda: "other")
    else:
        path.write_bytes(damaged[damage])
    before = kept(study)
    assert seen(load_view(study.folder)) == whole
    assert kept(study) != before


def test_where_it_cannot_be_written_all_is_read(study):
    (study.folder / cache.FILE).mkdir()
    assert seen(load_view(study.folder)) == read_anew(study.folder)
    assert [p.name for p in study.folder.iterdir() if "part" in p.name] == []


def test_a_part_of_the_trials_has_its_own_tables(study):
    load_view(study.folder)
    view = load_view(study.folder)
    part = narrowed(view, view.trials.rows[:2])
    assert (len(part.trials.rows), len(list(part.records))) == (2, 2)
    assert len(view.trials.rows) == 7


def test_a_small_sweep_gets_no_cache(sweep):
    study = sweep()
    study.add()
    load_view(study.folder)
    assert not (study.folder / cache.FILE).exists()
