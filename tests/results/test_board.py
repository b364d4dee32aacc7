"""TensorBoard's view of a whole sweep, as files: the table's columns and rows, designs' curves."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from gymspace.results import board
from gymspace.results.board import write_board
from gymspace.results.hparams import SESSION
from tests.results.conftest import Sweep


def hparams(folder, tag):
    events = EventAccumulator(str(folder)).Reload()
    content = events.SummaryMetadata(f"_hparams_/{tag}").plugin_data.content
    return getattr(HParamsPluginData.FromString(content), tag)


def row(sweep, trial):
    found = hparams(sweep.folder / "trials" / trial, "session_start_info").hparams
    return {name: getattr(value, value.WhichOneof("kind")) for name, value in found.items()}


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*tfevents*")}


@pytest.fixture
def sweep(tmp_path):
    return Sweep(tmp_path / "s")


def test_columns_have_types_and_domains(sweep):
    for layers, residual, agg, clip in [(1, True, "add", None), (2, False, None, 0.5)]:
        sweep.add(
            {
                "model.layers_mp": layers,
                "model.residual": residual,
                "model.agg": agg,
                "optim.grad_clip": clip,
            }
        )
    write_board(sweep.folder)
    infos = {i.name: i for i in hparams(sweep.folder, "experiment").hparam_infos}
    assert infos["model.layers_mp"].domain_interval.max_value == 2
    assert list(infos["model.residual"].domain_discrete) == [False, True]
    assert list(infos["model.agg"].domain_discrete) == ["add", "null"]
    assert list(infos["optim.grad_clip"].domain_discrete) == ["0.5", "null"]
    metrics = hparams(sweep.folder, "experiment").metric_infos
    assert [m.name.tag for m in metrics] == ["best/val_accuracy", "best/test_accuracy"]


def test_a_widened_sweep_gives_old_trials_the_new_columns(sweep):
    old = sweep.add({"optim.grad_clip": 0.5})
    write_board(sweep.folder)
    assert row(sweep, old) == {"optim.grad_clip": 0.5, "seed": 0}
    sweep.add({"optim.grad_clip": None, "model.layers_mp": 4})
    write_board(sweep.folder)
    assert row(sweep, old) == {"optim.grad_clip": "0.5", "model.layers_mp": 2, "seed": 0}
    names = [info.name for info in hparams(sweep.folder, "experiment").hparam_infos]
    assert names == ["optim.grad_clip", "model.layers_mp", "seed"]


def test_a_failed_trial_has_a_row_that_says_so(sweep):
    good = sweep.add({"model.layers_mp": 1})
    bad = sweep.add({"model.layers_mp": 2}, status="failed")
    write_board(sweep.folder)
    trials = sweep.folder / "trials"
    status = [hparams(trials / trial, "session_end_info").status for trial in (good, bad)]
    assert status == [1, 2]  # STATUS_SUCCESS, STATUS_FAILURE


def test_all_follows_from_the_results_alone(sweep):
    sweep.add({"model.layers_mp": 1})
    sweep.add({"model.layers_mp": 2})
    write_board(sweep.folder)
    first = files(sweep.folder)
    for path in first:
        (sweep.folder / path).unlink()
    write_board(sweep.folder)
    assert files(sweep.folder) == first != {}


def test_trials_that_want_no_events_get_none(sweep):
    sweep.add({"model.layers_mp": 1}, base={"log": {"tensorboard": False}})
    write_board(sweep.folder)
    assert files(sweep.folder) == {}


def test_a_design_has_the_mean_curve_of_its_repeats(sweep):
    sweep.add({"model.layers_mp": 1}, seed=0, val=[0.2, 0.4, 0.9])
    sweep.add({"model.layers_mp": 1}, seed=1, val=[0.4, 0.6])
    sweep.add({"model.layers_mp": 1}, seed=2, status="failed")
    sweep.add({"model.layers_mp": 2}, val=[0.1])
    write_board(sweep.folder)
    events = EventAccumulator(str(sweep.folder / board.DESIGNS / "layers_mp=1")).Reload()
    points = [(p.step, p.value) for p in events.Scalars("accuracy/val")]
    assert points == [(0, pytest.approx(0.3)), (1, pytest.approx(0.5))]


def test_only_the_best_designs_have_curves(sweep, monkeypatch):
    monkeypatch.setattr(board, "MOST", 2)
    for layers in (1, 2):
        sweep.add({"model.layers_mp": layers}, val=[layers / 10])
    write_board(sweep.folder)
    sweep.add({"model.layers_mp": 3}, val=[0.3])
    write_board(sweep.folder)
    names = {path.name for path in (sweep.folder / board.DESIGNS).iterdir()}
    assert names == {"layers_mp=2", "layers_mp=3"}


def test_a_long_name_is_cut_and_stays_one_of_a_kind(sweep):
    for end in "ab":
        sweep.add({"model.layer": {"name": "gat", "heads": 1, "x": "y/" * 150 + end}})
    write_board(sweep.folder)
    names = [path.name for path in (sweep.folder / board.DESIGNS).iterdir()]
    assert len(names) == 2
    assert all(len(name) < 255 for name in names)


def test_the_session_follows_the_events_in_the_order_of_names():
    assert sorted([SESSION, "events.out.tfevents.1796147341.host.1.0"])[-1] == SESSION
