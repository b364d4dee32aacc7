"""GraphGym's tables: which epoch, which spread, which columns."""

import csv
import shutil
from pathlib import Path

import pytest

from gymspace.errors import ConfigError
from gymspace.results.frames import read_table
from gymspace.results.read import read_trials
from gymspace.results.tables import leaderboard_table
from gymspace.results.write import write_tables

PUBLISHED = "graphgym_results/pyg/example_node_grid_example/agg"


def agg(study):
    write_tables(study.folder)
    names = [f"{s}{rule}" for s in ("train", "val", "test") for rule in ("", "_best", "_bestepoch")]
    return {name: read_table(study.folder / f"agg/{name}.csv") for name in names}


def test_test_number_is_the_one_at_the_validation_chosen_epoch(sweep):
    """Field case B3: val [.5, .9, .6], test [.95, .70, .80] gives 0.70 in every table."""
    study = sweep()
    study.add({"model.layers_mp": 2}, val=[0.5, 0.9, 0.6], test=[0.95, 0.70, 0.80])
    tables = agg(study)
    assert tables["test_best"]["accuracy"][0] == 0.70
    assert tables["test_bestepoch"]["accuracy"][0] == 0.70
    assert leaderboard_table(read_trials(study.folder)).rows[0]["test_accuracy_mean"] == 0.70
    assert read_table(study.folder / "trials.csv")["test_accuracy"][0] == 0.70


def test_three_rules_for_the_epoch(sweep):
    study = sweep()
    study.add({"model.layers_mp": 2}, seed=0, val=[0.1, 0.9, 0.7, 0.3], test=[0.0, 0.1, 0.2, 0.3])
    study.add({"model.layers_mp": 2}, seed=1, val=[0.2, 0.1, 0.8, 0.9], test=[0.4, 0.5, 0.6, 0.7])
    tables = agg(study)
    row = {name: table.iloc[0] for name, table in tables.items()}
    assert (row["test"]["epoch"], row["test"]["accuracy"]) == (3, 0.5)
    assert (row["test_best"]["epoch"], row["test_best"]["accuracy"]) == (2, 0.4)
    assert (row["test_bestepoch"]["epoch"], row["test_bestepoch"]["accuracy"]) == (2, 0.4)
    assert (row["val_best"]["accuracy"], row["val_bestepoch"]["accuracy"]) == (0.9, 0.75)
    assert row["test"]["accuracy_std"] == 0.2  # ddof 0
    for rule in ("", "_best", "_bestepoch"):
        assert len({row[f"{split}{rule}"]["epoch"] for split in ("train", "val", "test")}) == 1


def test_ties_take_the_earliest_epoch_and_direction_is_heeded(sweep):
    """Field case B1: val MAE [1.0, 0.2, 0.9, 0.2] chooses epoch 1."""
    study = sweep()
    base = {"metrics": ["mae"], "metric": "mae"}
    study.add({}, base=base, val=[1.0, 0.2, 0.9, 0.2], direction="min")
    tables = agg(study)
    assert [tables[name]["epoch"][0] for name in ("val_best", "val_bestepoch")] == [1, 1]


def test_nan_epoch_is_never_chosen(sweep):
    """Field case B2: val AUC [.5, nan, .9]."""
    study = sweep()
    study.add({}, val=[0.5, float("nan"), 0.9], best_epoch=None, val_accuracy=0.9)
    tables = agg(study)
    assert [tables[name]["epoch"][0] for name in ("val_best", "val_bestepoch")] == [2, 2]


def test_one_epoch_for_all_is_one_that_all_have(sweep):
    """Seeds that stopped early: the common epoch is among those that every seed evaluated."""
    study = sweep()
    study.add({}, seed=0, val=[0.1, 0.2, 0.3])
    study.add({}, seed=1, val=[0.1, 0.2, 0.3, 0.9])
    tables = agg(study)
    assert tables["val_bestepoch"]["epoch"][0] == 2
    assert tables["val"]["epoch"][0] == 2.5


def test_only_finished_trials_count(sweep):
    """Field cases B4, B6: diverged seeds are in no mean; a design without finished ones: no row."""
    study = sweep()
    study.add({"model.layers_mp": 2}, seed=0, val=[0.5])
    study.add({"model.layers_mp": 2}, seed=1, val=[0.9], status="diverged")
    study.add({"model.layers_mp": 3}, val=[0.9], status="failed")
    lost = study.add({"model.layers_mp": 4}, val=[0.9])
    (study.folder / "trials" / lost / "history.csv").unlink()
    assert agg(study)["val"]["accuracy"].tolist() == [0.5]


def test_columns_are_those_of_the_published_table(sweep):
    published = _shared(PUBLISHED) / "test_best.csv"
    with published.open() as file:
        wanted = next(csv.reader(file))
    names = {"layers_pre_mp": "l_pre", "layers_mp": "l_mp", "layers_post_mp": "l_post"}
    names |= {"dim_inner": "dim"}
    study = sweep(aliases={f"model.{key}": alias for key, alias in names.items()})
    study.add({f"model.{key}": 2 for key in names} | {"model.stage": "stack", "optim.lr": 0.01})
    table = agg(study)["test_best"]
    assert set(table.columns) == set(wanted)
    assert list(table.columns)[6:] == wanted[6:]


def test_reserved_alias_stops_before_anything_is_written(sweep):
    """Field case A4."""
    study = sweep(aliases={"model.act": "loss"})
    study.add({"model.act": "relu"})
    with pytest.raises(ConfigError, match="is a result column"):
        write_tables(study.folder)
    assert not (study.folder / "trials.csv").exists()


def test_files_are_the_same_whatever_the_order_on_disk(sweep):
    """The tables are a pure function of the set of result files."""
    todo = [(layers, seed) for layers in (2, 3, 4) for seed in (0, 1, 2)]
    folders = []
    for name, order in (("a", todo), ("b", todo[::-1])):
        study = sweep(name, seeds=[0, 1, 2], folds=[0])
        for layers, seed in order:
            score = 0.1 * layers + 0.07 * seed
            study.add({"model.layers_mp": layers}, seed=seed, val=[score, score / 3])
        write_tables(study.folder)
        folders.append(study.folder)
    files = sorted(path.relative_to(folders[0]) for path in folders[0].rglob("*.csv"))
    tables = [path for path in files if path.parts[0] != "trials"]
    assert len(tables) == 11
    for path in tables:
        assert (folders[0] / path).read_bytes() == (folders[1] / path).read_bytes()


def test_empty_sweep_has_empty_tables(sweep):
    study = sweep()
    shutil.rmtree(study.folder / "trials")
    (study.folder / "trials").mkdir()
    assert all(len(table) == 0 for table in agg(study).values())


def _shared(path: str) -> Path:
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "data" / path).is_dir():
            return folder / "shared" / "data" / path
    pytest.skip("the published tables are not here")
