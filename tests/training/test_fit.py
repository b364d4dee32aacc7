"""The epoch loop: what it yields, what a step does, and that it is a plain training loop."""

from dataclasses import replace
from itertools import islice

import pytest
import torch
from torch.nn import functional

from benchmarks import plain
from gymspace.training.averaging import averaged
from gymspace.training.batches import FullGraph
from gymspace.training.fit import evaluate, fit, train_epoch
from tests.training.trials import assembled


class Batches:
    """A loader of several batches."""

    def __init__(self, *batches):
        self.batches = batches

    def train(self, epoch=0):
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


PLAIN = {
    "model.norm": "none",
    "precision": "float64",
    "optim.optimizer": {"name": "sgd", "momentum": 0.9},
    "optim.lr": 0.1,
}


def in_parts(parts, accumulate, **keys):
    """A trial whose training rows come in ``parts`` batches."""
    loader = {"name": "tests.training.tasks:parts", "parts": parts}
    return assembled({**PLAIN, "loader": loader, "optim.accumulate": accumulate, **keys})


def weights(trial):
    return dict(trial.model.named_parameters())


def agree(one, other):
    return all(torch.allclose(one[name], other[name], rtol=1e-9, atol=1e-12) for name in one)


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_accumulated_batches_step_as_their_union(parts):
    """Of uneven size, and with masked labels: a mean over labels, not one of the batches' means."""
    whole, split = assembled(PLAIN), in_parts(parts, parts)
    batch = whole.loader.batch
    y = batch.y.index_fill(0, batch.rows["train"][:2], -1)
    loader = replace(split.loader, whole=replace(batch, y=y))
    one = list(fit(replace(whole, loader=FullGraph(replace(batch, y=y))), 3))
    other = list(fit(replace(split, loader=loader), 3))
    assert agree(weights(whole), weights(split))
    assert [e.loss for e in one] == pytest.approx([e.loss for e in other], rel=1e-9)


@pytest.mark.parametrize(("accumulate", "unions"), [(2, [2, 2, 1]), (1, [1] * 5), (4, [4, 1])])
def test_each_step_is_on_a_union_and_the_last_one_on_what_is_left(accumulate, unions):
    hand, trial = in_parts(5, 1), in_parts(5, accumulate, **{"optim.grad_clip": 0.05})
    batch, rows = hand.loader.whole, [b.rows["train"] for b in hand.loader.train()]
    for _ in range(2):
        train_epoch(trial, trial.model)
        for union in torch.cat(rows).split([sum(map(len, r)) for r in grouped(rows, unions)]):
            hand.optimizer.zero_grad()
            functional.cross_entropy(hand.model(batch.graph)[union], batch.y[union]).backward()
            torch.nn.utils.clip_grad_norm_(hand.model.parameters(), 0.05)
            hand.optimizer.step()
    assert agree(weights(hand), weights(trial))


def grouped(rows, sizes):
    it = iter(rows)
    return [list(islice(it, size)) for size in sizes]


def counted(optimizer):
    steps = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    return steps


def test_batches_without_labels_are_not_among_the_accumulated():
    """Field case C3: they neither fill a step nor take one, wherever they come."""
    ends = []
    for empties in (False, True):
        trial = in_parts(4, 2)
        batches = list(trial.loader.train())
        empty = replace(batches[0], y=torch.full_like(batches[0].y, -1))
        mixed = [b for batch in batches for b in (empty, batch, empty)] if empties else batches
        steps = counted(trial.optimizer)
        train_epoch(replace(trial, loader=Batches(*mixed)), trial.model)
        ends.append((weights(trial), len(steps)))
    assert [steps for _, steps in ends] == [2, 2]
    assert all(torch.equal(ends[0][0][name], ends[1][0][name]) for name in ends[0][0])


def decays(decay, steps):
    return [min(decay, (1 + n) / (10 + n)) for n in range(1, steps)]


@pytest.mark.parametrize("decay", [0.3, 0.999])
def test_the_averaged_weights_follow_those_trained_and_are_judged(decay):
    trial = assembled({"optim.ema": decay})
    means, epochs = None, fit(trial, 5)
    for epoch, d in zip(epochs, [0.0, *decays(decay, 5)], strict=True):
        state = {k: v.clone() for k, v in trial.model.state_dict().items()}
        means = means or state
        means = {
            k: d * means[k] + (1 - d) * v if v.is_floating_point() else v for k, v in state.items()
        }
        kept = trial.judged.state_dict()
        assert all(torch.allclose(kept[k], means[k], atol=1e-6) for k in kept)
        alone = evaluate(replace(trial, model=trial.judged, averaged=None))
        assert epoch.scores == alone
    assert any("running_mean" in name for name in means)
    assert evaluate(replace(trial, averaged=None)) != epoch.scores


def test_averaging_leaves_no_trace_in_the_training():
    keys = {"model.dropout": 0.5, "optim.scheduler": "cosine"}
    plain, followed = assembled(keys), assembled({**keys, "optim.ema": 0.9})
    ends = []
    for trial in (plain, followed):
        torch.manual_seed(0)
        ends.append([epoch.loss for epoch in fit(trial, 4)])
    states = [trial.model.state_dict() for trial in (plain, followed)]
    assert ends[0] == ends[1]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_the_average_moves_with_steps_not_with_batches():
    trial = in_parts(5, 2, **{"optim.ema": 0.9})
    train_epoch(trial, trial.model)
    assert int(trial.averaged.n_averaged) == 3


def test_whole_numbers_beside_the_weights_are_not_averaged():
    model = torch.nn.Linear(2, 2)
    model.register_buffer("index", torch.tensor([1, 7]))
    follower = averaged(model, 0.9)
    for _ in range(3):
        model.index += 1
        follower.update_parameters(model)
        assert torch.equal(follower.module.index, model.index)


@pytest.mark.parametrize("every", [1, 2])
def test_plateau_sees_the_choosing_metric_on_validation(every):
    plateau = {"name": "plateau", "patience": 1, "factor": 0.5}
    keys = {"metrics": ["accuracy", "auc"], "metric": "auc", "optim.scheduler": plateau}
    epochs = list(fit(assembled({**keys, "optim.lr": 0.5}), 24, every))
    rate, best, bad = 0.5, -1.0, 0
    for epoch in epochs:
        assert epoch.lr == rate
        if epoch.scores:
            value = epoch.scores["val_auc"].value
            bad = 0 if value > best else bad + 1
            best = max(best, value)
            if bad > 1:
                rate, bad = rate / 2, 0
    assert rate < 0.5


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
