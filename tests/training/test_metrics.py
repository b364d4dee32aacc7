"""Each metric against scikit-learn on all rows at once, however the rows are cut and merged."""

import math
import random
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import spearmanr
from sklearn import metrics as sk

from gymspace import registry, tables
from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.training.class_metrics import F1, BalancedAccuracy, Precision, Recall
from gymspace.training.metrics import (
    AUC,
    MAE,
    R2,
    RMSE,
    Accuracy,
    AveragePrecision,
    Spearman,
)
from gymspace.training.rank_metrics import MRR, Hits


def judge(metric, pred, target, mask=None, cuts=()):
    """The value over the parts between ``cuts``."""
    mask = torch.ones(len(pred), dtype=torch.bool) if mask is None else mask
    edges = [0, *cuts, len(pred)]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    first, *rest = [metric.update(pred[p], target[p], mask[p]) for p in parts]
    return metric.compute(first.merge(*rest))


def classes(seed, n, c, labelled=0.8):
    rng = np.random.default_rng(seed)
    target = np.where(rng.random(n) < labelled, rng.integers(0, c, n), -1)
    # Rows from a small pool tie exactly; ties between unlike rows would hang on the last bit.
    pred = rng.normal(size=(25, c))[rng.integers(0, 25, n)]
    target[:c] = range(c)
    return pred, target, (rng.random(n) < 0.7) | (np.arange(n) < c)


def tasks(seed, n, t, binary):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 2, (n, t)) if binary else rng.integers(-40, 40, (n, t)) / 8 + 100
    target = np.where(rng.random((n, t)) < 0.7, target, np.nan)
    target[:2] = [[0], [1]]
    shift = 0 if binary else 100
    return (
        rng.integers(-16, 16, (n, t)) / 8 + shift,
        target,
        (rng.random(n) < 0.7) | (np.arange(n) < 2),
    )


def ovr_auc(y, logits):
    if logits.shape[1] == 2:
        return sk.roc_auc_score(y, softmax(logits, 1)[:, 1])
    return sk.roc_auc_score(y, softmax(logits, 1), multi_class="ovr", labels=range(logits.shape[1]))


def ovr_average_precision(y, logits):
    scores, truth = softmax(logits, 1), np.eye(logits.shape[1])[y]
    if logits.shape[1] == 2:
        return sk.average_precision_score(y, logits[:, 1] - logits[:, 0])
    return sk.average_precision_score(truth, scores, average="macro")


def zero_division(score, **options):
    return lambda y, p: score(y, p.argmax(1), zero_division=0.0, **options)


def query_ranks(y, scores):
    """The rank of each true class by counting, the mean of those that tie."""
    own = scores[np.arange(len(y)), y][:, None]
    return 1 + (scores > own).sum(1) + ((scores == own).sum(1) - 1) / 2


def over_tasks(score):
    def mean(target, pred):
        columns = [
            (t[~np.isnan(t)], p[~np.isnan(t)]) for t, p in zip(target.T, pred.T, strict=True)
        ]
        return np.mean([score(t, p) for t, p in columns])

    return mean


def counted(score):
    """Of several tasks that of their ones; one alone has two classes."""

    def mean(target, pred):
        average = "macro" if target.shape[1] == 1 else "binary"
        one = partial(score, average=average, zero_division=0.0)
        return over_tasks(lambda y, p: one(y, p > 0))(target, pred)

    return mean


CLASSES = {
    "accuracy": (Accuracy(), lambda y, p: sk.accuracy_score(y, p.argmax(1))),
    "macro": (F1(), lambda y, p: sk.f1_score(y, p.argmax(1), average="macro")),
    "micro": (F1("micro"), lambda y, p: sk.f1_score(y, p.argmax(1), average="micro")),
    "precision": (Precision(), zero_division(sk.precision_score, average="macro")),
    "recall": (Recall(), zero_division(sk.recall_score, average="macro")),
    "balanced": (
        BalancedAccuracy(),
        lambda y, p: sk.balanced_accuracy_score(y, p.argmax(1)),
    ),
    "auc": (AUC(), ovr_auc),
    "average_precision": (AveragePrecision(), ovr_average_precision),
    "mrr": (MRR(), lambda y, p: np.mean(1 / query_ranks(y, p))),
    "hits": (Hits(2), lambda y, p: np.mean(query_ranks(y, p) <= 2)),
}
TASKS = {
    "accuracy": (Accuracy(), True, over_tasks(lambda y, p: sk.accuracy_score(y, p > 0))),
    "f1": (F1(), True, counted(sk.f1_score)),
    "precision": (Precision(), True, counted(sk.precision_score)),
    "recall": (Recall(), True, counted(sk.recall_score)),
    "balanced": (
        BalancedAccuracy(),
        True,
        over_tasks(lambda y, p: sk.balanced_accuracy_score(y, p > 0)),
    ),
    "auc": (AUC(), True, over_tasks(sk.roc_auc_score)),
    "average_precision": (AveragePrecision(), True, over_tasks(sk.average_precision_score)),
    "mae": (MAE(), False, over_tasks(sk.mean_absolute_error)),
    "rmse": (RMSE(), False, over_tasks(sk.root_mean_squared_error)),
    "r2": (R2(), False, over_tasks(sk.r2_score)),
    "spearman": (Spearman(), False, over_tasks(lambda y, p: spearmanr(y, p).statistic)),
}


def test_every_metric_of_the_table_has_a_reference_here():
    named = {row.target.rpartition(":")[2] for row in tables.METRICS.values()}
    assert named == {type(metric).__name__ for metric, *_ in [*CLASSES.values(), *TASKS.values()]}


def merge_by(metric, state_of, cuts, rng):
    """Cut into parts, then merge neighbours or strangers in any order until one is left."""
    states = [state_of(part) for part in cuts]
    while len(states) > 1:
        one, two = (states.pop(rng.randrange(len(states))) for _ in "ab")
        states.append(one.merge(two))
    return metric.compute(states[0])


def check(metric, pred, target, mask, pooled, data):
    n = len(pred)
    edges = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=6))), n]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    got = merge_by(
        metric,
        lambda p: metric.update(*(torch.from_numpy(x[p]) for x in (pred, target, mask))),
        parts,
        random.Random(data.draw(st.integers(0, 99))),
    )
    assert got.undefined == 0
    assert got.value == pytest.approx(pooled, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CLASSES)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), c=st.integers(2, 4), data=st.data())
def test_any_cut_and_any_merge_order_equals_the_pooled_value(name, seed, c, data):
    metric, reference = CLASSES[name]
    pred, target, mask = classes(seed, 60, c)
    judged = mask & (target >= 0)
    check(metric, pred, target, mask, reference(target[judged], pred[judged]), data)


@pytest.mark.parametrize("name", TASKS)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), t=st.integers(1, 3), data=st.data())
def test_any_cut_of_several_tasks_equals_the_mean_of_pooled_values(name, seed, t, data):
    metric, binary, reference = TASKS[name]
    pred, target, mask = tasks(seed, 60, t, binary)
    check(metric, pred, target, mask, reference(target[mask], pred[mask]), data)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 3, 8])
def test_auc_is_never_averaged_over_batches_or_ranks(batch, ranks):
    """Field case C1: 0.4667 for every batch size and number of ranks."""
    y = torch.tensor([1, 1, 0, 0, 0, 1, 0, 0])
    p = torch.tensor([0.1, 0.5, 0.2, 0.6, 0.3, 0.7, 0.4, 0.8])
    states = []
    for rank in range(ranks):
        mine = torch.arange(rank, 8, ranks)
        for rows in mine.split(batch):
            states.append(AUC().update(p[rows], y[rows], torch.ones(len(rows), dtype=torch.bool)))
    assert AUC().compute(states[0].merge(*states[1:])).value == pytest.approx(7 / 15, abs=1e-12)


@pytest.mark.parametrize("metric", [Accuracy(), F1("micro")])
def test_rows_that_only_pad_a_rank_are_not_judged(metric):
    """Field case C2: 10 items on 3 ranks, padded to 12 by items 0 and 1, item 0 wrong: 0.9."""
    target = torch.zeros(10, dtype=torch.long)
    pred = torch.tensor([[1.0, 0.0]]).repeat(10, 1)
    pred[0] = torch.tensor([0.0, 1.0])
    items = torch.tensor([*range(10), 0, 1])
    real = torch.arange(12) < 10
    first, *rest = [
        metric.update(pred[items[r::3]], target[items[r::3]], real[r::3]) for r in range(3)
    ]
    assert metric.compute(first.merge(*rest)) == (0.9, 10, 0)


@pytest.mark.parametrize("name", [*CLASSES, *TASKS])
def test_unlabelled_rows_change_nothing_whatever_was_predicted_for_them(name):
    """Field case C3: -1 and NaN labels, with outputs of NaN and infinity there."""
    if name in CLASSES:
        metric, (pred, target, _) = CLASSES[name][0], classes(1, 40, 3, labelled=1)
        nothing = -np.ones(3, int)
    else:
        metric, (pred, target, _) = TASKS[name][0], tasks(1, 40, 3, TASKS[name][1])
        nothing = np.full((3, 3), np.nan)
    wild = np.array([[np.nan] * 3, [np.inf] * 3, [-np.inf] * 3])
    more = (
        torch.from_numpy(np.vstack([pred, wild])),
        torch.from_numpy(np.concatenate([target, nothing])),
    )
    plain = judge(metric, torch.from_numpy(pred), torch.from_numpy(target))
    assert judge(metric, *more) == judge(metric, *more, cuts=(40,)) == plain
    assert not math.isnan(plain.value)


@pytest.mark.parametrize("metric", [Accuracy(), F1(), F1("micro"), AUC(), MAE(), RMSE(), R2()])
def test_no_label_at_all_is_nan_over_nothing(metric):
    """Field case C3, E4: a batch (or a split) of masked labels only."""
    pred, target = torch.zeros(3), torch.tensor([1.0, math.nan, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = judge(metric, pred, target, mask=torch.tensor([False, True, False]))
    assert math.isnan(value.value)
    assert value.n == 0


def test_a_task_with_one_class_is_left_out_and_counted():
    """Field cases C4, B2: tasks 1 (all ones) and 2 (no label) are undefined, never 0."""
    nan = math.nan
    target = torch.tensor([[1.0, 1, nan], [0, 1, nan], [1, 1, nan], [0, nan, nan]])
    pred = torch.tensor([[0.9, 0.1, 0], [0.1, 0.9, 0], [0.8, 0.3, 0], [0.7, 0.2, 0]])
    assert judge(AUC(), pred, target) == (1.0, 7, 2)


def test_a_class_that_is_absent_is_left_out_of_a_multiclass_auc():
    """Field case C4: of four classes only 0 and 1 occur."""
    pred = torch.tensor([[2.0, 0, 1, 0], [0, 2, 0, 1], [1, 0, 0, 0], [0, 3, 1, 0]])
    value = judge(AUC(), pred, torch.tensor([0, 1, 0, 1]))
    assert value == (1.0, 4, 2)


@pytest.mark.parametrize("metric", [AUC(), MAE(), RMSE(), R2()])
def test_an_output_of_nan_gives_nan_and_is_not_left_out(metric):
    pred = torch.tensor([[0.1, math.nan], [0.2, 0.3], [0.3, 0.1]])
    target = torch.tensor([[1.0, 1], [0, 0], [1, 0]])
    value = judge(metric, pred, target)
    assert math.isnan(value.value)
    assert (value.n, value.undefined) == (6, 0)


def test_labels_that_are_all_alike_leave_r2_undefined():
    value = judge(R2(), torch.tensor([0.0, 1.0, 2.0]), torch.full((3,), 0.1))
    assert math.isnan(value.value)
    assert value.undefined == 1


def test_r2_keeps_its_digits_where_the_mean_is_large():
    target = torch.arange(50, dtype=torch.float64) + 1e9
    value = judge(R2(), target + 0.5, target, cuts=(7, 20)).value
    assert value == pytest.approx(sk.r2_score(target, target + 0.5), abs=1e-12)


@pytest.mark.parametrize("name", tables.METRICS)
def test_row_numbers_and_a_bool_mask_mean_the_same(name):
    metric = registry.build("metrics", Component(name=name))
    rng = torch.Generator().manual_seed(0)
    pred, target = torch.randn(30, 1, generator=rng), torch.arange(30) % 2
    mask = torch.arange(30) % 3 > 0
    rows = mask.nonzero().squeeze(1)
    assert judge(metric, pred, target, mask) == metric.compute(metric.update(pred, target, rows))
    assert metric.direction == ("min" if name in ("mae", "rmse") else "max")


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("metric", [Accuracy(), F1(), F1("micro"), AUC()])
def test_one_logit_and_two_logits_are_the_same_binary_task(metric, width):
    logit = torch.tensor([0.3, -1.0, 2.0, -0.2, 0.0])
    target = torch.tensor([1, 1, 0, 0, 0])
    two = torch.stack([torch.zeros(5), logit], 1)
    assert judge(metric, two, target) == judge(
        metric, logit.reshape(-1, *[1] * (width - 1)), target
    )


@pytest.mark.parametrize(
    ("name", "pred", "target"),
    [
        ("mae", torch.zeros(4, 7), torch.zeros(4, dtype=torch.long)),
        ("accuracy", torch.zeros(4, 7), torch.zeros(4)),
        ("auc", torch.zeros(4, 3), torch.zeros(4, 2)),
        ("r2", torch.zeros(4), torch.zeros(4, 2)),
    ],
)
def test_shapes_that_do_not_fit_are_a_config_error(name, pred, target):
    metric = registry.build("metrics", Component(name=name))
    with pytest.raises(ConfigError, match=f"metrics={name}: needs .* here rows have outputs"):
        metric.update(pred, target, torch.ones(4, dtype=torch.bool))


def test_an_unknown_average_names_the_choices():
    with pytest.raises(ConfigError, match=r"metrics.average=macr: .* did you mean macro"):
        registry.build("metrics", Component.model_validate({"name": "f1", "average": "macr"}))
