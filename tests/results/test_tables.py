"""The table of trials and the leaderboard."""

import math
import random
import statistics

import pytest

from gymspace.errors import ConfigError
from gymspace.results.cells import NULL
from gymspace.results.frames import frame, read_table
from gymspace.results.read import read_trials
from gymspace.results.tables import leaderboard_table, load_table, trials_table
from gymspace.results.write import write_tables


def board(study, repeats=None):
    return leaderboard_table(read_trials(study.folder), repeats).rows


def test_trials_have_one_typed_column_per_varied_key(sweep):
    """Field case A2: lr 1e-5, hyphens and negative numbers come back as they were."""
    study = sweep()
    study.add({"optim.lr": 1e-05, "model.layers_mp": 2, "dataset": {"name": "pyg", "x": "a-b"}})
    study.add({"optim.lr": 0.1, "model.layers_mp": 3, "dataset": {"name": "pyg", "x": -0.5}})
    write_tables(study.folder)
    table = read_table(study.folder / "trials.csv")
    assert dict(table.dtypes.astype(str))["optim.lr"] == "Float64"
    assert str(table["model.layers_mp"].dtype) == "Int64"
    assert sorted(table["optim.lr"]) == [1e-05, 0.1]
    assert set(table["dataset"]) == {"pyg(x=a-b)", "pyg(x=-0.5)"}


def test_look_alikes_stay_apart(sweep):
    """Field case A3: as many rows and distinct cells as there are distinct designs."""
    values = [1, "1", True, "True", None, "None", "null", "[1]", "a/b", "v1.2", "x" * 300]
    study = sweep()
    for value in values:
        study.add({"model.layer.arg": value}, base={"model": {"layer": "gat"}})
    write_tables(study.folder)
    table = read_table(study.folder / "leaderboard.csv")
    cells = {(type(cell), cell) for cell in table["model.layer.arg"]}
    assert len(cells) == len(values)
    assert "model.layer" not in table


def test_null_is_a_level_and_absent_is_empty(sweep):
    """Field case B7: null survives the file and the group-by; a key a design lacks is empty."""
    study = sweep()
    for clip in (None, 1.0):
        study.add({"optim.grad_clip": clip, "model.layer": "gcn"})
        study.add({"optim.grad_clip": clip, "model.layer": "gat", "model.layer.heads": 4})
    write_tables(study.folder)
    table = read_table(study.folder / "leaderboard.csv")
    groups = table.groupby("optim.grad_clip")["val_accuracy_mean"].count()
    assert dict(groups) == {NULL: 2, 1.0: 2}
    assert table["model.layer.heads"].isna().tolist() == (table["model.layer"] == "gcn").tolist()


def test_key_that_differs_only_in_the_spec_is_varied(sweep):
    """What another run of the same folder changed has a column; seed and logging have none."""
    study = sweep()
    other = {"train": {"epochs": 9}, "log": {"tensorboard": False}}
    study.add({"model.stage": "stack"})
    study.add({"model.stage": "stack"}, base=other)
    study.add({"model.stage": "stack"}, seed=5)
    columns = trials_table(read_trials(study.folder)).columns
    assert [name for name in columns if "." in name] == ["model.stage", "train.epochs"]


def test_swept_key_with_the_name_of_a_result(sweep):
    """Field case A4: the choice and the measured value have a column each."""
    study = sweep()
    study.add({}, seconds=7.0)
    (record,) = read_trials(study.folder)
    record["choices"] = {"seconds": 3, "val_accuracy": "x"}
    (row,) = frame(trials_table([record])).to_dict("records")
    assert (row["seconds"], row["choice.seconds"]) == (7.0, 3)
    assert (row["val_accuracy"], row["choice.val_accuracy"]) == (0.5, "x")


def test_mean_and_spread_over_finished_seeds(sweep):
    study = sweep()
    scores = [0.5, 0.7, 0.6]
    for seed, score in enumerate(scores):
        study.add({"model.layers_mp": 2}, seed=seed, val=[score], test=[score / 2])
    study.add({"model.layers_mp": 3}, val=[0.1])
    first, second = board(study)
    assert first["val_accuracy_mean"] == pytest.approx(0.6)
    assert first["test_accuracy_std"] == pytest.approx(statistics.stdev(s / 2 for s in scores))
    assert (first["n_seeds"], first["missing"], second["n_seeds"]) == (3, "", 1)
    assert (second["val_accuracy_std"], second["missing"]) == (None, "1 2")


def test_missing_seed_does_not_skew_the_mean(sweep):
    """Field case B6: the mean is over this design's finished seeds; the row names the others."""
    study = sweep()
    study.add({"model.layers_mp": 2}, seed=0, val=[0.9])
    study.add({"model.layers_mp": 2}, seed=1, status="failed", error="no memory")
    (row,) = board(study, [(0, 0), (1, 0), (2, 0)])
    assert (row["val_accuracy_mean"], row["n_seeds"], row["missing"]) == (0.9, 1, "1 2")
    assert (row["n_done"], row["n_failed"]) == (1, 1)


def test_diverged_is_counted_and_not_ranked(sweep):
    """Field case B4: even a diverged trial that has a good score stays out of means and ranks."""
    study = sweep()
    study.add({"optim.lr": 0.1}, val=[0.5])
    study.add({"optim.lr": 0.1}, seed=1, status="diverged", val_accuracy=0.99)
    study.add({"optim.lr": 10.0}, status="diverged", val_accuracy=0.99, val_loss=math.inf)
    ranked, unranked = board(study)
    assert (ranked["rank"], ranked["val_accuracy_mean"], ranked["n_diverged"]) == (1, 0.5, 1)
    assert (unranked.get("rank"), unranked["val_accuracy_mean"]) == (None, None)
    assert (unranked["n_diverged"], unranked["optim.lr"]) == (1, 10.0)


def test_smaller_is_better_where_the_metric_says_so(sweep):
    """Field case B1: ranks follow the metric's direction."""
    study = sweep()
    base = {"metrics": ["mae"], "metric": "mae"}
    for layers, error in ((2, 1.0), (3, 0.2), (4, 0.9)):
        study.add({"model.layers_mp": layers}, base=base, val=[error], direction="min")
    assert [row["model.layers_mp"] for row in board(study)] == [3, 4, 2]


def test_nan_is_never_best(sweep):
    """Field case B2: a trial whose score is nan has no rank and is no finished seed."""
    study = sweep()
    study.add({"model.layers_mp": 2}, val=[0.5])
    study.add({"model.layers_mp": 3}, val_accuracy=math.nan)
    best, worst = board(study)
    assert (best["rank"], best["model.layers_mp"]) == (1, 2)
    assert (worst.get("rank"), worst["n_seeds"], worst["missing"]) == (None, 0, "0")


def test_ties_go_to_the_smaller_design_id(sweep):
    study = sweep()
    for layers in range(6):
        study.add({"model.layers_mp": layers})
    ids = [row["design"] for row in board(study)]
    assert ids == sorted(ids)


def test_ranks_are_per_task(sweep):
    study = sweep()
    for layers, score in ((2, 0.9), (3, 0.8)):
        study.add({"model.layers_mp": layers, "dataset": "cora"}, val=[score])
        study.add({"model.layers_mp": layers, "dataset": "digits"}, val=[1 - score])
    rows = board(study)
    assert [row["dataset"] for row in rows] == ["cora", "cora", "digits", "digits"]
    assert [row["rank"] for row in rows] == [1, 2, 1, 2]
    assert [row["model.layers_mp"] for row in rows] == [2, 3, 3, 2]


def test_ranks_and_precision_split_a_design(sweep):
    study = sweep()
    for count in (1, 2):
        study.add({"dist.ranks": count})
    assert sorted(row["dist.ranks"] for row in board(study)) == [1, 2]


def test_folds_are_repeats(sweep):
    study = sweep()
    for fold in range(3):
        study.add({"model.layers_mp": 2}, base={"fold": fold}, fold=fold, val=[fold / 4])
    (row,) = board(study, [(0, fold) for fold in range(4)])
    assert (row["n_seeds"], row["n_done"], row["missing"]) == (1, 3, "0/3")
    assert row["val_accuracy_mean"] == 0.25


def test_tables_do_not_depend_on_the_order_of_records(sweep):
    study = sweep()
    for seed in range(3):
        for layers in range(4):
            study.add({"model.layers_mp": layers}, seed=seed, val=[0.1 * layers + 0.07 * seed])
    records = read_trials(study.folder)
    shuffled = random.Random(0).sample(records, len(records))
    assert trials_table(shuffled) == trials_table(records)
    assert leaderboard_table(shuffled).csv() == leaderboard_table(records).csv()


def test_budgets_have_columns_where_a_trial_has_one(sweep):
    """Field case A1: the row records target, achieved count, relative error and width."""
    study = sweep()
    study.add({"model.stage": "stack"})
    names = {"budget_target", "budget_error", "width"}
    for make in (trials_table, leaderboard_table):
        assert not names & set(make(read_trials(study.folder)).columns)
    budget = {"target": 80, "achieved": 100, "error": 0.25, "width": 7}
    study.add({"model.stage": "skipsum"}, base={"budget": 80}, budget=budget)
    write_tables(study.folder)
    table = read_table(study.folder / "trials.csv").sort_values("model.stage")
    assert names <= set(table.columns)
    assert table["params"].tolist() == [100, 100]
    row = table.iloc[0]
    assert (row["budget_target"], row["budget_error"], row["width"]) == (80, 0.25, 7)
    assert table["width"].isna().tolist() == [False, True]
    board = read_table(study.folder / "leaderboard.csv").sort_values("model.stage")
    assert board[sorted(names)].iloc[0].tolist() == [0.25, 80, 7]
    assert board["width"].isna().tolist() == [False, True]


def test_what_a_search_gave_up_keeps_its_means_and_has_no_rank(sweep):
    study = sweep()
    study.add({"model.layers_mp": 2}, seed=0, val=[0.9])
    study.add({"model.layers_mp": 2}, seed=1, status="pruned")
    study.add({"model.layers_mp": 3}, seed=0, val=[0.5])
    best, given_up = board(study)
    assert (best["rank"], best["model.layers_mp"]) == (1, 3)
    assert (given_up.get("rank"), given_up["n_done"], given_up["n_pruned"]) == (None, 1, 1)
    assert given_up["val_accuracy_mean"] == 0.9


def test_a_front_of_several_goals(sweep):
    study = sweep()
    for layers, (value, params) in enumerate([(0.9, 50), (0.8, 50), (0.7, 10), (0.6, 20)]):
        study.add({"model.layers_mp": layers}, val=[value], params=params)
    goals = [("params", False), ("val_accuracy", True)]
    table = leaderboard_table(read_trials(study.folder), goals=goals)
    assert {row["model.layers_mp"] for row in table.rows if row["pareto"]} == {0, 2}
    assert [row["params"] for row in table.rows] == [10, 20, 50, 50]


@pytest.mark.parametrize(
    ("text", "says"), [("", "it is empty"), ("a,b\n1,2\n3\n", "row 2 has 1 cells for 2 columns")]
)
def test_a_damaged_table_is_one_clear_line(text, says, tmp_path):
    path = tmp_path / "imported.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"imported.csv: is not a readable table: {says}"):
        load_table(path)
