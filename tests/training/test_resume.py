"""A trial that goes on from its checkpoint, and those that may not."""

import shutil

import pytest
import torch

from gymspace.records import LOG, RESULT
from gymspace.training.checkpoint import load, save
from gymspace.training.fit import evaluate
from gymspace.training.resume import BEST, LAST
from tests.training.trials import assembled, history, run

KEYS = {
    "train.epochs": 10,
    "train.checkpoint": True,
    "train.early_stopping": 30,
    "model.dropout": 0.5,
    "optim.scheduler": "cosine",
}
GRAPHS = {
    "dataset": "tests.graph.many:rings",
    "data.split": "random",
    "model.head": "graph",
    "loader": "batches",
    "train.batch_size": 7,
}


class CutError(Exception):
    """Ends a trial where a signal would."""


def cut_at(epoch):
    def report(progress):
        if progress.epoch == epoch:
            raise CutError

    return report


def cut_and_resumed(folder, keys, epoch):
    """The result of a trial that was cut off after ``epoch`` and run again."""
    with pytest.raises(CutError):
        run(folder, keys, cut_at(epoch))
    assert not (folder / RESULT).exists()
    return run(folder, keys)


def same(one, other):
    """Whether two checkpoints' contents are equal, bit for bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def without_seconds(mapping):
    return {name: value for name, value in mapping.items() if name != "seconds"}


@pytest.mark.parametrize(
    ("change", "epoch"),
    [
        ({}, 4),
        ({}, 0),
        ({}, 9),
        ({"train.eval_every": 3}, 5),
        ({"optim.optimizer": "sgd", "optim.scheduler": "step", "precision": "float64"}, 4),
        ({"optim.ema": 0.9}, 4),
        ({"optim.ema": 0.9, "train.eval_every": 3}, 5),
        ({"optim.scheduler": {"name": "plateau", "patience": 0}, "optim.lr": 0.3}, 6),
        ({"optim.scheduler": {"name": "warmup_polynomial", "warmup": 3}}, 1),
        ({"optim.scheduler": "warmup_cosine", "optim.decay_norms": False}, 4),
        ({"optim.scheduler": "one_cycle"}, 4),
        ({"optim.optimizer": "tests.training.tasks:Lion", "optim.lr": 1e-3}, 4),
        ({"loader": "tests.training.tasks:parts", "optim.accumulate": 2, "optim.ema": 0.5}, 4),
        (GRAPHS, 4),
    ],
)
def test_five_epochs_and_five_more_are_ten(tmp_path, change, epoch):
    """Field case G9: history, weights, optimiser, rate, random state and best-so-far, bitwise."""
    keys = {**KEYS, **change}
    straight = run(tmp_path / "straight", keys)
    resumed = cut_and_resumed(tmp_path / "resumed", keys, epoch)
    assert history(tmp_path / "straight") == history(tmp_path / "resumed")
    assert without_seconds(straight) == without_seconds(resumed)
    for name in (LAST, BEST):
        ends = [load(tmp_path / folder / name) for folder in ("straight", "resumed")]
        kept = [[without_seconds(row) for row in end.pop("rows")] for end in ends]
        assert same(kept[0], kept[1])
        assert same(without_seconds(ends[0]), without_seconds(ends[1]))


@pytest.mark.parametrize("back", [0, 2])
def test_early_stopping_goes_on_counting(tmp_path, back):
    """Field case G9: also if the trial was cut off between its last epoch and its result."""
    keys = {**KEYS, "train.epochs": 60, "train.early_stopping": 4}
    straight = run(tmp_path / "straight", keys)
    assert straight["epochs"] < 60
    last = straight["epochs"] - 1
    resumed = cut_and_resumed(tmp_path / "resumed", keys, last - back)
    assert without_seconds(straight) == without_seconds(resumed)
    assert history(tmp_path / "straight") == history(tmp_path / "resumed")


def test_a_resumed_trial_counts_the_seconds_before(tmp_path):
    with pytest.raises(CutError):
        run(tmp_path, KEYS, cut_at(4))
    state = load(tmp_path / LAST)
    save(tmp_path / LAST, {**state, "seconds": 1000.0})
    assert 1000 < run(tmp_path, KEYS)["seconds"] < 1500


def fresh_with(folder, keys, change):
    """The log and history of a trial that found a checkpoint made of its own by ``change``."""
    with pytest.raises(CutError):
        run(folder, keys, cut_at(2))
    change(folder / LAST)
    run(folder, keys)
    return (folder / LOG).read_text(), history(folder)


def edited(**values):
    return lambda path: save(path, {**load(path), **values})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.write_bytes(b"junk"), "cannot read checkpoint"),
        (lambda path: path.write_bytes(path.read_bytes()[:500]), "cannot read checkpoint"),
        (edited(trial="0123456789ab"), "of another trial"),
        (edited(weights={"body.0.layer.linear.weight": [7, 7]}), "of other code"),
        (edited(format=0), "of other code"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_left_alone_with_a_warning(tmp_path, change, reason):
    run(tmp_path / "straight", KEYS)
    log, rows = fresh_with(tmp_path / "again", KEYS, change)
    assert any("WARNING" in x and "starting anew" in x and reason in x for x in log.splitlines())
    assert rows == history(tmp_path / "straight")


def test_the_checkpoint_of_another_trial_is_not_continued(tmp_path):
    run(tmp_path / "zero", KEYS)
    run(tmp_path / "one", {**KEYS, "seed": 1})
    (tmp_path / "mixed").mkdir()
    shutil.copy(tmp_path / "zero" / LAST, tmp_path / "mixed")
    run(tmp_path / "mixed", {**KEYS, "seed": 1})
    assert history(tmp_path / "mixed") == history(tmp_path / "one")


@pytest.mark.parametrize("change", [{}, {"optim.ema": 0.5}])
def test_the_best_checkpoint_has_the_weights_of_the_best_epoch(tmp_path, change):
    result = run(tmp_path, {**KEYS, "optim.lr": 0.1, **change})
    assert result["best_epoch"] < result["epochs"] - 1
    trial = assembled(KEYS)
    kept = torch.load(tmp_path / BEST, weights_only=True)
    trial.model.load_state_dict(kept["model"])
    scores = {name: score.value for name, score in evaluate(trial).items()}
    assert scores == {name: result[name] for name in scores}


def test_nothing_is_kept_and_nothing_continued_without_checkpoints(tmp_path):
    run(tmp_path / "kept", KEYS)
    keys = {**KEYS, "train.checkpoint": False}
    run(tmp_path / "plain", keys)
    assert not list((tmp_path / "plain").glob("*.pt"))
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "kept" / LAST, tmp_path / "again")
    run(tmp_path / "again", keys)
    assert history(tmp_path / "again") == history(tmp_path / "plain")
