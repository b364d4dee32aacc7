"""Losses: the sums over parts are the whole, and what has no label is no part of them."""

import math
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight

from gymspace import registry, tables
from gymspace.errors import ConfigError
from gymspace.schema import Component

ALL = torch.ones(8, dtype=torch.bool)


def build(name):
    return registry.build("loss", Component.model_validate(name))


def example(name):
    """Outputs that want a gradient, and labels of which rows 2 and 5 have none."""
    rng = torch.Generator().manual_seed(3)
    if name == "cross_entropy":
        target = torch.tensor([0, 1, -1, 2, 1, -1, 0, 2])
        return torch.randn(8, 3, generator=rng, requires_grad=True), target
    target = torch.randint(0, 2, (8, 2), generator=rng).float()
    target[2], target[5], target[6, 1] = math.nan, math.nan, math.nan
    return torch.randn(8, 2, generator=rng, requires_grad=True), target


SINGLE = [name for name in tables.LOSSES if name not in ("bpr", "margin")]  # of rows by themselves


def focal(pred, target, gamma=2.0):
    """Lin et al. 2017, written out."""
    p = torch.sigmoid(pred)
    right = torch.where(target == 1, p, 1 - p)
    return (-((1 - right) ** gamma) * right.log()).mean()


REFERENCE = {
    "cross_entropy": F.cross_entropy,
    "bce": F.binary_cross_entropy_with_logits,
    "mse": F.mse_loss,
    "mae": F.l1_loss,
    "smooth_l1": F.smooth_l1_loss,
    "focal": focal,
}


@pytest.mark.parametrize("name", SINGLE)
def test_total_over_count_is_the_mean_of_the_labelled(name):
    pred, target = example(name)
    known = target >= 0
    part = build(name)(pred, target, ALL)
    assert part.count == known.sum()
    mean = REFERENCE[name](pred[known], target[known])
    torch.testing.assert_close(part.total / part.count, mean)


@pytest.mark.parametrize("name", SINGLE)
def test_parts_add_up_to_the_whole_value_and_gradient(name):
    pred, target = example(name)
    loss = build(name)
    parts = [loss(pred[r::3], target[r::3], ALL[r::3]) for r in range(3)]
    whole = loss(pred, target, ALL)
    summed = sum(part.total for part in parts)
    assert sum(part.count for part in parts) == whole.count
    torch.testing.assert_close(summed, whole.total)
    (one,), (two,) = (torch.autograd.grad(total, pred) for total in (summed, whole.total))
    torch.testing.assert_close(one, two)


@pytest.mark.parametrize("wild", [0.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", SINGLE)
def test_unlabelled_rows_change_neither_value_nor_gradient(name, wild):
    """Field case C3: whatever the output is where the label is NaN or -1."""
    pred, target = example(name)
    known = (target >= 0).reshape(8, -1).any(1)
    short = pred.detach()[known].requires_grad_()
    total = build(name)(short, target[known], ALL[known]).total
    total.backward()
    with torch.no_grad():
        pred[~known] = wild
    whole = build(name)(pred, target, ALL).total
    whole.backward()
    assert whole == total
    assert torch.equal(pred.grad[known], short.grad)
    assert not pred.grad[~known].any()


@pytest.mark.parametrize("name", SINGLE)
def test_no_label_at_all_is_a_zero_with_a_zero_gradient(name):
    """Field case C3: a batch of only masked labels is a no-op."""
    pred, target = example(name)
    part = build(name)(pred, target, torch.arange(8) == 2)
    part.total.backward()
    assert (part.total, part.count) == (0, 0)
    assert not pred.grad.any()


@pytest.mark.parametrize("name", SINGLE)
def test_row_numbers_and_a_bool_mask_mean_the_same(name):
    pred, target = example(name)
    mask = torch.arange(8) % 3 > 0
    one, two = (build(name)(pred, target, m) for m in (mask, mask.nonzero().squeeze(1)))
    assert (one.total, one.count) == (two.total, two.count)
    grads = [torch.autograd.grad(part.total, pred)[0] for part in (one, two)]
    assert torch.equal(*grads)


def test_binary_class_ids_and_one_logit_suit_bce():
    pred, target = torch.tensor([[0.5], [-1.0], [2.0]]), torch.tensor([1, 0, -1])
    part = build("bce")(pred, target, torch.ones(3, dtype=torch.bool))
    expected = F.binary_cross_entropy_with_logits(pred[:2, 0], torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(part.total / part.count, expected)


def test_label_smoothing_is_torchs():
    pred, target = example("cross_entropy")
    part = build({"name": "cross_entropy", "label_smoothing": 0.2})(pred, target, ALL)
    known = target >= 0
    expected = F.cross_entropy(pred[known], target[known], label_smoothing=0.2)
    torch.testing.assert_close(part.total / part.count, expected)


@pytest.mark.parametrize("value", [1.5, -0.1, "much"])
def test_label_smoothing_out_of_range_is_a_config_error(value):
    with pytest.raises(ConfigError, match=rf"loss\.label_smoothing={value}: must be"):
        build({"name": "cross_entropy", "label_smoothing": value})


@pytest.mark.parametrize(
    ("name", "pred", "target"),
    [
        ("cross_entropy", torch.zeros(8, 1), torch.zeros(8, dtype=torch.long)),
        ("cross_entropy", torch.zeros(8, 3), torch.zeros(8)),
        ("bce", torch.zeros(8, 2), torch.zeros(8, dtype=torch.long)),
        ("mse", torch.zeros(8, 1), torch.zeros(8, 3)),
    ],
)
def test_shapes_that_do_not_fit_are_a_config_error(name, pred, target):
    """Nothing is broadcast in silence."""
    with pytest.raises(ConfigError, match=f"loss={name}: needs .* here rows have outputs"):
        build(name)(pred, target, ALL)


@pytest.mark.parametrize("gamma", [0, 1.5])
def test_focal_weighs_each_row_of_a_cross_entropy(gamma):
    pred, target = example("cross_entropy")
    part = build({"name": "focal", "gamma": gamma})(pred, target, ALL)
    known = target >= 0
    right = pred[known].softmax(1).gather(1, target[known, None]).squeeze(1)
    expected = -((1 - right) ** gamma) * right.log()
    torch.testing.assert_close(part.total, expected.sum())
    assert part.count == known.sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_weighted_cross_entropy_is_torchs(smoothing):
    pred, target = example("cross_entropy")
    weights = (1.0, 0.5, 3.0)
    name = {"name": "cross_entropy", "weights": weights, "label_smoothing": smoothing}
    part = build(name)(pred, target, ALL)
    known = target >= 0
    expected = F.cross_entropy(
        pred[known], target[known], torch.tensor(weights), label_smoothing=smoothing
    )
    torch.testing.assert_close(part.total / part.count, expected)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ({"name": "cross_entropy", "weights": (1.0, -1.0)}, "loss.weights=-1.0: must be"),
        (
            {"name": "cross_entropy", "weights": "balance"},
            "loss.weights=balance: neither a list of numbers nor a known word; choices: balanced",
        ),
        ({"name": "focal", "gamma": -1}, "loss.gamma=-1: must be 0 or more"),
        ({"name": "smooth_l1", "beta": 0}, "loss.beta=0: must be above 0"),
    ],
)
def test_arguments_out_of_range_are_told(name, line):
    with pytest.raises(ConfigError, match=re.escape(line)):
        build(name)


def test_balanced_weights_are_scikit_learns():
    _, target = example("cross_entropy")
    known = target[target >= 0]
    loss = {"name": "cross_entropy", "weights": "balanced"}
    balanced = registry.build(
        "loss", Component.model_validate(loss), counts=known.bincount(minlength=4)
    )
    expected = compute_class_weight("balanced", classes=np.arange(3), y=known.numpy())
    part = balanced(torch.zeros(len(known), 4), known, known >= 0)
    assert part.count == pytest.approx(expected[known.numpy()].sum())


def test_there_are_as_many_weights_as_classes():
    with pytest.raises(ConfigError, match=r"loss\.weights=.*: 2 weights for 3 classes"):
        build({"name": "cross_entropy", "weights": (1.0, 2.0)})(*example("cross_entropy"), ALL)
