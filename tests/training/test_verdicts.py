"""Trials that are stopped, or put away to go on later, by what the parent says of an epoch."""

import json
import math

import pytest

from gymspace.dist.jobs import Done, Finished, Job, Progress
from gymspace.dist.slots import Slots
from gymspace.records import GO, HISTORY, LOG, RESULT, Run, Verdict
from gymspace.training.checkpoint import load
from gymspace.training.resume import BEST, LAST
from tests.training.test_resume import same, without_seconds
from tests.training.trials import RING, history, run, spec_of

STOP, PAUSE = Verdict("stop", "below the median"), Verdict("checkpoint", "no time is left")
KEYS = {
    "train.epochs": 10,
    "model.dropout": 0.5,
    "optim.scheduler": "cosine",
    "optim.ema": 0.9,
    "optim.lr": 0.05,
}
NO_AUC = {"dataset": {"name": RING, "alike": "val"}, "metrics": ["auc"], "metric": "auc"}


def at(epoch, verdict):
    """A parent that says ``verdict`` of ``epoch``, and to go on before."""

    def report(progress, wait=False):
        return verdict if progress.epoch == epoch else GO

    return report


def test_a_trial_is_stopped_at_an_epoch_and_keeps_its_best_one(tmp_path):
    straight = run(tmp_path / "straight", KEYS)
    result = run(tmp_path / "cut", KEYS, at(5, STOP), heeds=True)
    assert (result["status"], result["error"]) == ("pruned", "below the median")
    assert result["epochs"] == len(history(tmp_path / "cut")) == 6
    rows = history(tmp_path / "straight")[:6]
    assert history(tmp_path / "cut") == rows
    values = [float(row["val_accuracy"]) for row in rows]
    assert result["best_epoch"] == values.index(max(values))
    assert result["val_accuracy"] == max(values)
    assert set(result) == set(straight)
    assert json.loads((tmp_path / "cut" / RESULT).read_text()) == result
    assert "pruned after 6 epochs: below the median" in (tmp_path / "cut" / LOG).read_text()
    assert not list((tmp_path / "cut").glob("*.pt"))


@pytest.mark.parametrize("heeds", [True, False])
def test_a_trial_waits_after_each_evaluated_epoch_if_it_heeds(tmp_path, heeds):
    waits = []

    def report(progress, wait=False):
        waits.append((progress.epoch, wait))

    run(tmp_path, {"train.eval_every": 2}, report, heeds=heeds)
    assert waits == [(epoch, heeds) for epoch in (1, 3, 4)]


def test_a_trial_that_does_not_heed_takes_what_is_said(tmp_path):
    assert run(tmp_path, KEYS, at(2, STOP))["epochs"] == 3


@pytest.mark.parametrize("verdict", [STOP, PAUSE])
@pytest.mark.parametrize(
    ("change", "last"),
    [({}, 9), ({"train.early_stopping": 2, "optim.lr": 1e-9}, 2), ({"optim.lr": 1e30}, 0)],
)
def test_a_trial_that_is_over_is_not_cut_short(tmp_path, verdict, change, last):
    keys = {**KEYS, "optim.scheduler": "none", "model.norm": "none", **change}
    straight = run(tmp_path / "straight", keys)
    assert straight["epochs"] == last + 1
    assert straight["status"] in ("done", "diverged")
    result = run(tmp_path / "told", keys, at(last, verdict), heeds=True)
    assert without_seconds(result) == without_seconds(straight)
    assert (tmp_path / "told" / RESULT).exists()


def test_an_undefined_value_is_told_as_it_is(tmp_path):
    """Field case G7; a trial stopped before any epoch could be chosen is pruned all the same."""
    told = []

    def report(progress, wait=False):
        told.append(progress.value)
        return STOP if progress.epoch == 1 else GO

    result = run(tmp_path, NO_AUC, report, heeds=True)
    assert [math.isnan(value) for value in told] == [True, True]
    assert (result["status"], result["best_epoch"], result["epochs"]) == ("pruned", None, 2)


@pytest.mark.parametrize(
    ("change", "epochs"),
    [
        ({}, [4]),
        ({}, [0, 3, 8]),
        ({"train.eval_every": 3}, [5]),
        ({"train.checkpoint": True}, [4]),
        ({"train.early_stopping": 3, "train.epochs": 60}, [2]),
        ({"optim.scheduler": {"name": "plateau", "patience": 0}, "optim.ema": None}, [6]),
    ],
)
def test_a_trial_put_away_goes_on_bit_for_bit(tmp_path, change, epochs):
    """Field case G9: history, rate, random state, average and best-so-far, as if undisturbed."""
    keys, folder = {**KEYS, **change}, tmp_path / "paused"
    straight = run(tmp_path / "straight", keys)
    for epoch in epochs:
        paused = run(folder, keys, at(epoch, PAUSE), heeds=True)
        assert (paused["status"], paused["error"]) == ("paused", "no time is left")
        assert paused["epochs"] == epoch + 1 < straight["epochs"]
        assert (folder / LAST).exists()
        assert not (folder / RESULT).exists()
    assert without_seconds(run(folder, keys)) == without_seconds(straight)
    assert history(folder) == history(tmp_path / "straight")
    kept = [sorted(p.name for p in f.glob("*.pt")) for f in (folder, tmp_path / "straight")]
    assert kept[0] == kept[1] == ([BEST, LAST] if keys.get("train.checkpoint") else [])


def test_what_is_put_away_is_what_a_checkpoint_of_that_epoch_holds(tmp_path):
    """Weights, average, optimiser and all the rest."""
    run(tmp_path / "kept", {**KEYS, "train.checkpoint": True}, at(4, STOP))
    run(tmp_path / "paused", KEYS, at(4, PAUSE))
    kept, paused = (load(tmp_path / name / LAST) for name in ("kept", "paused"))
    assert kept.pop("trial") != paused.pop("trial")  # `train.checkpoint` is in the id
    rows = [[without_seconds(row) for row in state.pop("rows")] for state in (kept, paused)]
    assert same(*rows)
    assert same(without_seconds(kept), without_seconds(paused))


@pytest.fixture(scope="module")
def pair():
    with Slots("gymspace.training.worker:Worker", 1, 2) as slots:
        yield slots


def told(slots, folder, keys, say, heeds=True):
    """The outcome on two ranks of a trial whose epochs are answered by ``say``."""
    folder.mkdir(exist_ok=True)
    spec = spec_of({**keys, "dist.ranks": 2})
    for event in slots.run([Job("trial", Run(spec, folder, {}, heeds))]):
        if isinstance(event, Progress):
            slots.answer(event.slot, say(event.value))
        if isinstance(event, Finished):
            assert isinstance(event.outcome, Done), event.outcome
    return event.outcome.value


def test_both_ranks_stop_at_the_same_epoch_and_run_the_next_trial(tmp_path, pair):
    """Field case G6: the outcome comes with both answers, and nobody had to be killed."""
    before = told(pair, tmp_path / "before", KEYS, at(99, STOP))
    ranks = list(pair._slots[0]._children)
    result = told(pair, tmp_path / "cut", KEYS, at(3, STOP))
    assert (result["status"], result["epochs"], result["ranks"]) == ("pruned", 4, 2)
    again = told(pair, tmp_path / "again", KEYS, at(99, STOP))
    assert without_seconds(again) == without_seconds(before)
    assert pair._slots[0]._children == ranks


def test_two_ranks_that_do_not_heed_agree_on_what_came(tmp_path, pair):
    """Field case G6: it is taken at whatever epoch rank 0 looks, by both."""
    ranks = list(pair._slots[0]._children)
    keys = {"train.epochs": 100_000}
    result = told(pair, tmp_path, keys, at(1, STOP), heeds=False)
    assert result["status"] == "pruned"
    assert result["epochs"] == len((tmp_path / HISTORY).read_text().splitlines()) - 1
    assert pair._slots[0]._children == ranks


def test_two_ranks_put_away_go_on_bit_for_bit(tmp_path, pair):
    """Field case G9."""
    straight = told(pair, tmp_path / "straight", KEYS, at(99, GO))
    assert told(pair, tmp_path / "paused", KEYS, at(4, PAUSE))["status"] == "paused"
    assert not (tmp_path / "paused" / RESULT).exists()
    resumed = told(pair, tmp_path / "paused", KEYS, at(99, GO))
    assert without_seconds(resumed) == without_seconds(straight)
    assert history(tmp_path / "paused") == history(tmp_path / "straight")
