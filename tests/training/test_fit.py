"""The epoch loop: what it yields, what a step does, and that it is a plain training loop."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from benchmarks import plain
from gymspace.training.batches import FullGraph
from gymspace.training.fit import evaluate, fit
from tests.training.trials import assembled


class Batches:
    """A loader of several batches."""

    def __init__(self, *batches):
        self.batches = batches

    def train(self):
        yield from self.batches

    def evaluate(self):
        yield from self.batches


@pytest.mark.parametrize(
    ("epochs", "every", "evaluated"),
    [(5, 1, [0, 1, 2, 3, 4]), (5, 2, [1, 3, 4]), (4, 2, [1, 3]), (3, 10, [2]), (1, 1, [0])],
)
def test_epochs_count_from_zero_and_the_last_is_evaluated(epochs, every, evaluated):
    seen = list(fit(assembled(), epochs, every))
    assert [epoch.epoch for epoch in seen] == list(range(epochs))
    assert [epoch.epoch for epoch in seen if epoch.scores] == evaluated


def test_a_row_has_the_loss_and_every_metric_of_every_split():
    trial = assembled({"metrics": ["accuracy", "auc"]})
    (epoch,) = fit(trial, 1)
    scores = [f"{s}_{n}" for s in ("train", "val", "test") for n in ("loss", "accuracy", "auc")]
    assert list(epoch.row) == ["epoch", "lr", "seconds", *scores]
    assert epoch.seconds > 0


def test_an_epoch_tells_the_rate_it_was_trained_with():
    rates = [epoch.lr for epoch in fit(assembled({"optim.lr": 0.1}), 5)]
    assert rates[0] == 0.1
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] > 0


def test_training_lowers_the_loss():
    epochs = list(fit(assembled({"train.epochs": 30}), 30))
    assert epochs[-1].loss < 0.5 * epochs[0].loss
    assert epochs[-1].scores["train_loss"].value < 0.5 * epochs[0].loss


def test_the_loss_of_an_epoch_is_that_before_its_step():
    keys = {"model.norm": "none"}
    before = evaluate(assembled(keys))["train_loss"].value
    (epoch,) = fit(assembled(keys), 1)
    assert epoch.loss == pytest.approx(before, rel=1e-6)
    assert epoch.scores["train_loss"].value < before


def test_gradients_are_clipped_to_the_norm_asked_for():
    keys = {"optim.optimizer": {"name": "sgd", "momentum": 0.0}, "optim.lr": 1.0}
    trial = assembled({**keys, "optim.weight_decay": 0.0, "optim.grad_clip": 1e-3})
    before = [p.detach().clone() for p in trial.model.parameters()]
    list(fit(trial, 1))
    moved = [(p - q).norm() for p, q in zip(trial.model.parameters(), before, strict=True)]
    assert torch.stack(moved).norm().item() == pytest.approx(1e-3, rel=1e-3)


def test_a_batch_of_only_masked_labels_changes_nothing():
    """Field case C3: not the weights, BatchNorm's statistics, the optimiser or the random state."""
    keys = {"model.dropout": 0.5, "optim.optimizer": "adam"}
    bare, masked = assembled(keys), assembled(keys)
    batch = masked.loader.batch
    empty = replace(batch, y=torch.full_like(batch.y, -1))
    states = []
    for trial, loader in [(bare, Batches(batch)), (masked, Batches(empty, batch, empty))]:
        torch.manual_seed(0)
        epochs = list(fit(replace(trial, loader=loader), 3))
        states.append((trial.model.state_dict(), [e.loss for e in epochs], torch.get_rng_state()))
    (weights, losses, rng), (others, same, rng_too) = states
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    assert losses == same
    assert torch.equal(rng, rng_too)


def test_masked_labels_among_others_change_nothing():
    """Field case C3: a row that is asked for but has no label is as one that is not asked for."""
    trials = [assembled(), assembled()]
    batch = trials[0].loader.batch
    rows = {**batch.rows, "train": batch.rows["train"][3:]}
    masked = batch.y.index_fill(0, batch.rows["train"][:3], -1)
    loaders = FullGraph(replace(batch, rows=rows)), FullGraph(replace(batch, y=masked))
    ends = [
        list(fit(replace(trial, loader=loader), 3))[-1].scores
        for trial, loader in zip(trials, loaders, strict=True)
    ]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("parts", [1, 3, 8])
def test_scores_do_not_depend_on_the_batches(parts):
    """Field case C1: loss, accuracy and AUC over several batches are those over one."""
    trial = assembled({"metrics": ["accuracy", "auc"], "precision": "float64"})
    batch = trial.loader.batch
    split = {name: rows.tensor_split(parts) for name, rows in batch.rows.items()}
    batches = [
        replace(batch, rows={name: rows[i] for name, rows in split.items()}) for i in range(parts)
    ]
    whole, sums = evaluate(trial), evaluate(replace(trial, loader=Batches(*batches)))
    assert sums == {name: pytest.approx(value, rel=1e-12) for name, value in whole.items()}


def test_evaluating_leaves_no_trace_in_the_training():
    keys = {"model.dropout": 0.5}
    *_, often = fit(assembled(keys), 6, eval_every=1)
    *_, seldom = fit(assembled(keys), 6, eval_every=6)
    assert often.scores == seldom.scores


def by_hand(trial, epochs):
    """The default design in plain PyTorch and PyG, from the same weights: scores by epoch."""
    graph, ours = trial.loader.batch.graph, trial.model
    data = plain.Data(graph.x, graph.links.index, trial.loader.batch.y, trial.loader.batch.rows)
    model = plain.Plain(graph.x.size(1), 8, ours.head.out.out_features, 2).to(graph.x.dtype)
    model.before.load_state_dict(ours.body[0].layer.linear.state_dict())
    for conv, block in zip(model.convs, ours.body[1].blocks, strict=True):
        conv.neighbour.load_state_dict(block.layer.neighbour.state_dict())
        conv.itself.load_state_dict(block.layer.self_.state_dict())
    model.after.load_state_dict(ours.head.out.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    rows = data.splits["train"]
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        functional.cross_entropy(model(data.x, data.links)[rows], data.y[rows]).backward()
        optimizer.step()
        scheduler.step()
        yield plain.evaluate(model, data)


@pytest.mark.parametrize(("precision", "gap"), [("float64", 1e-10), ("float32", 1e-4)])
def test_an_epoch_is_that_of_a_plain_loop(precision, gap):
    keys = {"dataset": "digits", "data.split": "per_class", "train.epochs": 8}
    trial = assembled({**keys, "precision": precision})
    assert next(trial.model.parameters()).dtype == getattr(torch, precision)
    expected = list(by_hand(trial, 8))
    for epoch, scores in zip(fit(trial, 8), expected, strict=True):
        for name, score in epoch.scores.items():
            near = gap if name.endswith("loss") else 1e-7  # the loop's accuracy is a float32
            assert score.value == pytest.approx(scores[name], rel=near)
