"""One trial: its result, the same again from the same seed, and odd graphs, splits and rates."""

import json
import math
import subprocess
import sys

import pytest
import torch

from gymspace import tables
from gymspace.errors import ConfigError
from gymspace.records import HISTORY, RESULT, Progress
from gymspace.spec import parse
from gymspace.training.fit import evaluate
from gymspace.training.trial import seed_everything
from tests.training.trials import RING, assembled, history, run, spec_of

DIGITS = {"dataset": "digits", "data.split": "per_class", "train.epochs": 4}
DROPOUT = {"model.dropout": 0.5}
BUSY = "import itertools; [0 for _ in itertools.count()]"


def test_the_result_has_the_fields_that_tables_read(tmp_path):
    result = run(tmp_path, {"seed": 2})
    scores = [f"{s}_{n}" for s in ("train", "val", "test") for n in ("loss", "accuracy")]
    fixed = {"seed": 2, "fold": 0, "ranks": 1, "status": "done", "error": None, "traceback": None}
    fixed |= {"metric": "accuracy", "direction": "max", "epochs": 5, "split": "own: 12/15/33"}
    assert {name: result[name] for name in fixed} == fixed
    rest = {"trial", "design", "task", "best_epoch", "params", "seconds"}
    assert set(result) == {*fixed, *scores, *rest}
    assert result["params"] == sum(p.numel() for p in assembled().model.parameters())
    assert result["seconds"] > 0
    assert json.loads((tmp_path / RESULT).read_text()) == result


def test_the_scores_are_those_of_the_best_epoch_in_the_history(tmp_path):
    result = run(tmp_path, {"train.epochs": 12})
    rows = history(tmp_path)
    values = [float(row["val_accuracy"]) for row in rows]
    assert result["best_epoch"] == values.index(max(values))
    best = rows[result["best_epoch"]]
    scores = [name for name in best if name not in ("epoch", "lr")]
    assert {name: float(best[name]) for name in scores} == {name: result[name] for name in scores}


def test_no_epoch_comes_before_the_training(tmp_path):
    """Field case G10: the first row is what one epoch of training made of the first weights."""
    run(tmp_path)
    rows = history(tmp_path)
    assert [row["epoch"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert float(rows[0]["train_loss"]) != evaluate(assembled())["train_loss"].value


def test_progress_is_reported_for_each_evaluated_epoch(tmp_path):
    told = []
    run(tmp_path, {"train.eval_every": 2}, told.append)
    values = [float(row["val_accuracy"]) for row in history(tmp_path)]
    assert told == [Progress(e, 5, v) for e, v in zip([1, 3, 4], values, strict=True)]


def test_the_same_seed_gives_the_same_history(tmp_path):
    for name in "ab":
        run(tmp_path / name, {**DIGITS, **DROPOUT})
    assert history(tmp_path / "a") == history(tmp_path / "b")


def test_the_same_seed_gives_the_same_history_whatever_runs_beside_it(tmp_path):
    run(tmp_path / "alone", {**DIGITS, **DROPOUT})
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    try:
        run(tmp_path / "beside", {**DIGITS, **DROPOUT})
        assert [other.poll() for other in others] == [None, None]
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert history(tmp_path / "alone") == history(tmp_path / "beside")


def test_seed_zero_is_a_seed_like_any_other(tmp_path):
    """Field case G3."""
    seeds = {name: {**DROPOUT, "seed": seed} for name, seed in [("a", 0), ("b", 1), ("c", 0)]}
    results = {name: run(tmp_path / name, keys) for name, keys in seeds.items()}
    assert [results[name]["seed"] for name in "abc"] == [0, 1, 0]
    assert history(tmp_path / "a") == history(tmp_path / "c")
    assert history(tmp_path / "a") != history(tmp_path / "b")
    seed_everything(0)
    assert torch.initial_seed() == 0


def test_a_sweep_s_other_trials_leave_no_trace(tmp_path):
    """A rank that ran another trial before is as good as a fresh one."""
    run(tmp_path / "fresh", {**DROPOUT, "seed": 1})
    run(tmp_path / "other", {"seed": 0})
    run(tmp_path / "after", {**DROPOUT, "seed": 1})
    assert history(tmp_path / "fresh") == history(tmp_path / "after")


def test_early_stopping_ends_the_trial(tmp_path):
    keys = {"train.epochs": 60, "train.early_stopping": 3}
    result = run(tmp_path, keys)
    assert result["epochs"] == result["best_epoch"] + 4 < 60
    assert len(history(tmp_path)) == result["epochs"]


def test_early_stopping_waits_for_the_evaluations(tmp_path):
    """With three epochs of patience and an evaluation every five, all is not lost at epoch 2."""
    keys = {"train.epochs": 20, "train.early_stopping": 3, "train.eval_every": 5}
    result = run(tmp_path, keys)
    assert result["status"] == "done"
    assert {int(row["epoch"]) % 5 for row in history(tmp_path)} == {4}


@pytest.mark.parametrize("norm", ["batch", "none"])
@pytest.mark.parametrize("decay", [5e-4, 0.0])
@pytest.mark.parametrize("every", [1, 3])
def test_a_trial_that_blew_up_has_diverged(tmp_path, norm, decay, every):
    """Field case B4: with a rate of a million there is no result, even if the loss is finite."""
    keys = {**DIGITS, "train.epochs": 7, "train.eval_every": every, "model.norm": norm}
    keys |= {"optim.optimizer": "sgd", "optim.lr": 1e6, "optim.weight_decay": decay}
    result = run(tmp_path, keys)
    assert result["status"] == "diverged"
    assert "loss" in result["error"]
    assert result["best_epoch"] is None
    assert not {"val_accuracy", "test_accuracy"} & set(result)


def test_a_rise_that_only_lagging_statistics_show_has_not_diverged(tmp_path):
    """Deep BatchNorm without L2 norm evaluates far too high at first, and trains well."""
    keys = {**DIGITS, "model.layers_mp": 6, "model.l2norm": "none", "model.dim_inner": 64}
    result = run(tmp_path, keys)
    assert max(float(row["train_loss"]) for row in history(tmp_path)) > 100
    assert result["status"] == "done"


def test_a_train_split_of_one_node(tmp_path):
    """Field case E4."""
    result = run(tmp_path, {"dataset": {"name": RING, "train": 1}})
    assert (result["status"], result["split"]) == ("done", "own: 1/15/44")


def test_a_validation_split_of_one_class_has_no_auc(tmp_path):
    """Field cases E4, B2: no epoch can be chosen, so the trial has failed, and says why."""
    dataset = {"name": RING, "alike": "val"}
    result = run(tmp_path, {"dataset": dataset, "metrics": ["auc"], "metric": "auc"})
    assert result["status"] == "failed"
    assert result["error"].startswith("val_auc was undefined at every evaluation")
    assert {row["val_auc"] for row in history(tmp_path)} == {"nan"}


def test_a_test_split_of_one_class_leaves_the_test_score_empty(tmp_path):
    """Field case E4: null in the file, which has no word for nan."""
    dataset = {"name": RING, "alike": "test"}
    result = run(tmp_path, {"dataset": dataset, "metrics": ["auc"], "metric": "auc"})
    assert result["status"] == "done"
    assert result["undefined"] == {"test_auc": 3}
    assert json.loads((tmp_path / RESULT).read_text())["test_auc"] is None


@pytest.mark.parametrize("edges", ["none", "half", "loops"])
@pytest.mark.parametrize("layer", tables.LAYERS)
def test_odd_edges_train_with_every_layer(tmp_path, layer, edges):
    """Field case E4: no edges, isolated nodes; self loops, directed and repeated edges."""
    keys = {"dataset": {"name": RING, "edges": edges, "edge_dim": 2}, "model.layer": layer}
    keys |= {"encodings": ["identity"], "data.cache": str(tmp_path / "cache")}
    result = run(tmp_path, {**keys, "train.epochs": 2})
    assert result["status"] == "done"
    assert all(math.isfinite(result[f"{split}_loss"]) for split in ("train", "val", "test"))


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_regression_chooses_the_least_error(tmp_path, tasks):
    """Field cases B1, C3: labels that are missing are left out."""
    dataset = {"name": "tests.training.tasks:numbers", "tasks": tasks}
    keys = {"dataset": dataset, "loss": "mse", "metrics": ["mae", "r2"], "metric": "mae"}
    result = run(tmp_path, {**keys, "train.epochs": 10})
    values = [float(row["val_mae"]) for row in history(tmp_path)]
    assert result["direction"] == "min"
    assert result["val_mae"] == min(values) < max(values)


def test_a_trial_that_fails_leaves_no_result(tmp_path):
    with pytest.raises(RuntimeError, match="only in training"):
        run(tmp_path, {"model.layer": "tests.training.tasks:RaisesInTraining"})
    assert not (tmp_path / RESULT).exists()


def test_a_trial_cut_off_leaves_its_history_and_no_result(tmp_path):
    def cut(progress):
        if progress.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, report=cut)
    assert len(history(tmp_path)) == 3
    assert (tmp_path / HISTORY).exists()
    assert not (tmp_path / RESULT).exists()


def test_double_precision_is_single_precision_with_more_digits(tmp_path):
    """The same first weights and the same course, as far as single precision goes."""
    results = [run(tmp_path / p, {"precision": p}) for p in ("float32", "float64")]
    assert results[0]["trial"] != results[1]["trial"]
    first, second = (float(history(tmp_path / p)[0]["val_loss"]) for p in ("float32", "float64"))
    assert first != second
    assert first == pytest.approx(second, rel=1e-5)
    assert spec_of({"precision": "float64"}).precision == "float64"


BASELINE = {
    "model.layer": "gcn",
    "model.stage": "stack",
    "model.dim_inner": 40,
    "model.layers_mp": 3,
}


def test_a_budget_is_met_and_the_result_says_how(tmp_path):
    """Field case A1: target, achieved count, relative error and width are in the row."""
    target = run(tmp_path / "base", BASELINE)["params"]
    result = run(tmp_path / "it", {"budget": {"match": BASELINE}, "model.stage": "skipconcat"})
    budget = result["budget"]
    assert set(budget) == {"target", "achieved", "error", "width"}
    assert (budget["target"], budget["achieved"]) == (target, result["params"])
    assert abs(budget["error"]) <= 0.02
    assert budget["error"] == (result["params"] - target) / target


def test_a_budget_is_the_same_however_it_is_written():
    flat = spec_of({"budget": {"match": {"model.layer": "gat", "model.layer.heads": 4}}})
    nested = spec_of({"budget": {"match": {"model": {"layer": {"name": "gat", "heads": 4}}}}})
    assert flat == nested == parse(flat.model_dump(mode="json"))
    assert spec_of({"budget": 900}) == spec_of({"budget": {"params": 900, "tolerance": 0.02}})


@pytest.mark.parametrize(
    ("budget", "problem"),
    [
        (10, "budget=10: the nearest is"),
        ({"match": {"model.layr": "gcn"}}, "budget.match: .*model.layr: unknown key"),
    ],
)
def test_a_budget_out_of_reach_ends_the_trial_before_it_starts(budget, problem):
    with pytest.raises(ConfigError, match=problem):
        assembled({"budget": budget})


def test_all_layers_of_a_sweep_are_matched_to_one_baseline(tmp_path):
    """Field case A1: the baseline is the default design with the changes named, for all alike."""
    budget = {"match": {"model.dim_inner": 96}}
    results = [
        run(tmp_path / layer, {"budget": budget, "model.layer": layer}) for layer in ("gcn", "gat")
    ]
    assert len({result["budget"]["target"] for result in results}) == 1
    assert all(abs(result["budget"]["error"]) <= 0.02 for result in results)


@pytest.mark.parametrize("budget", [0, True, "big", {}, {"match": {"optim.lr": 1}}, {"params": -1}])
def test_a_budget_that_is_none_is_an_error(budget):
    with pytest.raises(ConfigError, match=r"^budget"):
        spec_of({"budget": budget})
