"""TensorBoard's view of a trial: one run, its curves, its row of the HParams table."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from gymspace.results.hparams import SESSION
from tests.training.trials import run

SPLITS = ("train", "val", "test")
CHOICES = {
    "model.layers_mp": 2,
    "optim.lr": 0.01,
    "model.stage": "stack",
    "model.layer": {"name": "gat", "heads": 4},
    "model.agg": None,
    "train.checkpoint": True,
}


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """The folder and result of a trial that an earlier attempt had left events in."""
    folder = tmp_path_factory.mktemp("trial")
    (folder / "events.out.tfevents.1.earlier").write_bytes(b"left over")
    keys = {"log.tensorboard": True, "train.eval_every": 2, "seed": 3}
    return folder, run(folder, keys, choices=CHOICES)


@pytest.fixture(scope="module")
def events(trial):
    return EventAccumulator(str(trial[0])).Reload()


def hparams(events, tag):
    data = events.SummaryMetadata(f"_hparams_/{tag}").plugin_data
    assert data.plugin_name == "hparams"
    return HParamsPluginData.FromString(data.content)


def test_a_trial_is_one_run_without_sub_folders(trial):
    folder, _ = trial
    curves, session = sorted(path.name for path in folder.glob("events.out.tfevents.*"))
    assert curves != "events.out.tfevents.1.earlier"
    assert session == SESSION
    assert not [path for path in folder.iterdir() if path.is_dir()]


def test_there_is_a_chart_for_each_score(events):
    curves = {f"{name}/{split}" for name in ("loss", "accuracy") for split in SPLITS}
    best = {"best/val_accuracy", "best/test_accuracy"}
    assert set(events.Tags()["scalars"]) == curves | best | {"lr"}


def test_a_chart_has_a_point_for_each_evaluated_epoch(trial, events):
    assert [point.step for point in events.Scalars("accuracy/val")] == [1, 3, 4]
    result = trial[1]
    (best,) = events.Scalars("best/val_accuracy")
    assert (best.step, best.value) == (
        result["best_epoch"],
        pytest.approx(result["val_accuracy"]),
    )


def test_swept_keys_and_seed_are_typed_hparams(events):
    found = hparams(events, "session_start_info").session_start_info.hparams
    values = {name: getattr(value, value.WhichOneof("kind")) for name, value in found.items()}
    assert values == {
        "model.layers_mp": 2.0,
        "optim.lr": 0.01,
        "model.stage": "stack",
        "model.layer": "gat(heads=4)",
        "model.agg": "null",
        "train.checkpoint": True,
        "seed": 3.0,
    }


def test_a_trial_without_scores_has_hparams_too(tmp_path):
    keys = {"log.tensorboard": True, "optim.lr": 1e6, "optim.optimizer": "sgd"}
    assert run(tmp_path, keys, choices={"optim.lr": 1e6})["status"] == "diverged"
    events = EventAccumulator(str(tmp_path)).Reload()
    assert hparams(events, "session_start_info").session_start_info.hparams["optim.lr"]


def test_no_events_are_written_where_none_are_wanted(tmp_path):
    run(tmp_path)
    assert not list(tmp_path.glob("events*"))
