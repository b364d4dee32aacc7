"""A warm rank: what it finds out about a design, what it keeps, and what a trial's log tells."""

import logging
import warnings

import pytest

from gymspace.errors import ConfigError
from gymspace.records import LOG, Inspect, Run
from gymspace.training import worker
from gymspace.training.worker import Worker, trial_log
from tests.training.trials import RING, assembled, run, spec_of

TASKS = "tests.training.tasks"


def inspected(keys=None):
    return Worker(0, 1)(Inspect(spec_of(keys)), lambda value: None)


def test_inspecting_tells_size_structure_and_split():
    facts = inspected()
    assert facts.params == sum(p.numel() for p in assembled().model.parameters())
    assert "General" in facts.architecture
    assert facts.split == "own: 12/15/33"


def test_a_layer_that_raises_is_named_in_one_line():
    with pytest.raises(ConfigError) as caught:
        inspected({"model.layer": f"{TASKS}:Raises"})
    text = str(caught.value)
    assert caught.value.key == "model.layer"
    assert text.startswith(f"model.layer={TASKS}:Raises: fails on a graph of 4 nodes: RuntimeError")
    assert "first line" in text
    assert "\n" not in text


def test_a_model_that_drops_nodes_is_named():
    keys = {"model.layer": f"{TASKS}:DropsNodes"}
    with pytest.raises(ConfigError, match=r"DropsNodes: gives scores of shape \[2, 3\], not"):
        inspected(keys)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"loss": "mse"}, "loss"),
        ({"metrics": ["rmse"], "metric": "rmse"}, "metrics"),
        ({"dataset": f"{TASKS}:numbers"}, "loss"),
        ({"data.split": {"name": "per_class", "train": 50}}, "data.split"),
        ({"dataset": {"name": RING, "train": 0}}, "data.split"),
        ({"model.layer": {"name": "gat", "heads": 3}}, "model.layer.heads"),
        ({"optim.scheduler": {"name": "warmup_linear", "warmup": 9}}, "optim.scheduler.warmup"),
    ],
)
def test_what_does_not_go_together_is_found_before_the_training(keys, key):
    """Field case F4; E4 for the empty split."""
    with pytest.raises(ConfigError) as caught:
        inspected(keys)
    assert caught.value.key == key


@pytest.mark.parametrize("metric", ["accuracy", "auc", "f1"])
def test_real_numbers_are_not_scored_as_classes(metric):
    keys = {"dataset": f"{TASKS}:numbers", "loss": "mse", "metrics": [metric], "metric": metric}
    with pytest.raises(ConfigError) as caught:
        inspected(keys)
    start = f"metrics={metric}: needs labels of 0 and 1, and here is one of "
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(": mae, rmse and r2 go with such numbers")


def test_real_numbers_are_not_learnt_as_classes():
    keys = {"dataset": f"{TASKS}:numbers", "loss": "bce", "metrics": ["mae"], "metric": "mae"}
    with pytest.raises(ConfigError, match=r"loss=bce: needs labels of 0 and 1, .*: mse and mae go"):
        inspected(keys)


@pytest.mark.parametrize("metric", ["accuracy", "auc", "f1"])
def test_labels_of_0_and_1_are_taken_where_some_are_missing(metric):
    """Field case C3."""
    keys = {"dataset": f"{TASKS}:ticks", "loss": "bce", "metrics": [metric], "metric": metric}
    assert inspected(keys).split == "own: 9/11/25"


@pytest.mark.parametrize(
    ("loader", "told"),
    [("full", "full has 1: more"), (f"{TASKS}:parts", f"{TASKS}:parts has 3: more")],
)
def test_more_batches_a_step_than_an_epoch_has_are_found_before_the_training(loader, told):
    """Field case A5: the key would change nothing."""
    with pytest.raises(ConfigError, match=f"optim.accumulate=4: an epoch of loader={told}"):
        inspected({"loader": loader, "optim.accumulate": 4})
    inspected({"loader": f"{TASKS}:parts", "optim.accumulate": 3})


def test_a_device_that_is_not_there_is_found_before_the_training(monkeypatch):
    """Field case F4."""
    monkeypatch.setattr(worker.torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="device=cuda: this machine has no usable GPU"):
        inspected({"device": "cuda"})


def test_a_graph_is_loaded_once_for_all_repeats_and_designs(tmp_path):
    path = tmp_path / "loads"
    keys = {"dataset": {"name": f"{TASKS}:counted", "path": str(path)}}
    rank = Worker(0, 1)
    for number, change in enumerate([{"seed": 0}, {"seed": 1}, {"model.layers_mp": 1}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        rank(Run(spec_of({**keys, **change}), folder, {}), lambda value: None)
    assert path.read_text() == "loaded\n"


def test_a_graph_is_loaded_anew_for_another_precision(tmp_path):
    path = tmp_path / "loads"
    keys = {"dataset": {"name": f"{TASKS}:counted", "path": str(path)}}
    rank = Worker(0, 1)
    for precision in ("float32", "float64"):
        rank(Inspect(spec_of({**keys, "precision": precision})), lambda value: None)
    assert path.read_text() == "loaded\n" * 2


def test_another_request_is_refused():
    with pytest.raises(TypeError, match="no answer to a str"):
        Worker(0, 1)("run", lambda value: None)


def test_the_log_has_the_traceback_of_a_failure(tmp_path):
    with pytest.raises(RuntimeError):
        run(tmp_path, {"model.layer": f"{TASKS}:RaisesInTraining"})
    text = (tmp_path / LOG).read_text()
    assert "Traceback (most recent call last)" in text
    assert 'training/tasks.py", line' in text
    assert "RuntimeError: only in training" in text


def test_the_log_tells_how_a_trial_ended(tmp_path):
    run(tmp_path / "fine")
    run(tmp_path / "blown", {"optim.optimizer": "sgd", "optim.lr": 1e6})
    assert "done after 5 epochs\n" in (tmp_path / "fine" / LOG).read_text()
    assert "diverged after 1 epochs: train_loss was nan" in (tmp_path / "blown" / LOG).read_text()


def test_the_log_keeps_warnings_and_leaves_no_handler(tmp_path):
    root = logging.getLogger()
    before = list(root.handlers), root.level
    with trial_log(tmp_path / LOG), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("beware", stacklevel=1)
        logging.getLogger("anything").info("said")
    assert (list(root.handlers), root.level) == before
    text = (tmp_path / LOG).read_text()
    assert "beware" in text
    assert "INFO anything: said" in text


def test_the_log_of_an_earlier_attempt_is_kept(tmp_path):
    for _ in range(2):
        run(tmp_path)
    assert (tmp_path / LOG).read_text().count("done after") == 2
