"""Metrics of labels and of numbers, each over labelled rows only."""

import math

import torch
from torch import Tensor

from gymspace.training.judging import (
    by_class,
    decide,
    gap_of,
    mean,
    mid_ranks,
    over_tasks,
    paired_rows,
    sums,
)
from gymspace.training.labels import Mask, judge
from gymspace.training.states import Direction, Rows, Sums, Value


class Accuracy:
    """Share of labels hit by the largest logit, or by the sign of a single one.

    Of several tasks, the mean; a task without labels is undefined.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of hits and labels, [2, T]. See `Metric`."""
        judged = judge(pred.detach(), target, mask)
        hits = decide(judged, "accuracy").eq(judged.target).logical_and_(judged.labelled)
        return sums(hits, judged.labelled)

    def compute(self, state: Sums) -> Value:
        """Hits / labels, mean over tasks."""
        hits, labels = state.values
        return mean(hits / labels, labels > 0, labels.sum())


class AUC:
    """Area under the ROC curve, ties counting one half.

    Binary from one logit or from two; more classes: each against the rest by its softmax, macro
    average (scikit-learn's ``ovr``); several tasks: their mean. A task or class whose labels are
    all alike is undefined.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Rows:
        """Rows of scores [n, T] and labels [n, T], or for C > 2 of [n, C] and class ids [n]."""
        return by_class(judge(pred.detach(), target, mask), "auc")

    def compute(self, state: Rows) -> Value:
        """Mean of the areas of tasks or classes."""
        return over_tasks(_area, state)


class AveragePrecision:
    """Area under the precision-recall steps, as scikit-learn's ``average_precision_score``.

    Tied scores are one step. Classes, tasks and what is undefined are as for `AUC`.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Rows:
        """Rows of scores [n, T] and labels [n, T], or for C > 2 of [n, C] and class ids [n]."""
        return by_class(judge(pred.detach(), target, mask), "average_precision")

    def compute(self, state: Rows) -> Value:
        """Mean of the tasks' or classes' average precision."""
        return over_tasks(_average_precision, state)


class MAE:
    """Mean absolute error; of several tasks, the mean. A task without labels is undefined."""

    direction: Direction = "min"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of errors and labels, [2, T]. See `Metric`."""
        gap, labelled = gap_of(pred, target, mask, "mae")
        return sums(gap.abs(), labelled)

    def compute(self, state: Sums) -> Value:
        """Errors / labels, mean over tasks."""
        errors, labels = state.values
        return mean(errors / labels, labels > 0, labels.sum())


class RMSE:
    """Root of the mean squared error; of several tasks, the mean of the roots."""

    direction: Direction = "min"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of squared errors and labels, [2, T]. See `Metric`."""
        gap, labelled = gap_of(pred, target, mask, "rmse")
        return sums(gap.square(), labelled)

    def compute(self, state: Sums) -> Value:
        """Roots of errors / labels, mean over tasks."""
        errors, labels = state.values
        return mean((errors / labels).sqrt(), labels > 0, labels.sum())


class R2:
    """Coefficient of determination, 1 - residual / total squares; of several tasks, the mean.

    It keeps rows: sums of squares would lose digits where the mean is large. A task whose labels
    are all alike is undefined (scikit-learn calls it 0 or 1).
    """

    direction: Direction = "max"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Rows:
        """Rows of outputs and labels, [n, T] each. See `Metric`."""
        return paired_rows(judge(pred.detach(), target, mask), "r2")

    def compute(self, state: Rows) -> Value:
        """Mean of the tasks' coefficients."""
        return over_tasks(_coefficient, state)


class Spearman:
    """Spearman's rank correlation, tied values sharing their mean rank; of several tasks, the mean.

    A task whose labels are all alike is undefined; outputs that are all alike give NaN.
    """

    direction: Direction = "max"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Rows:
        """Rows of outputs and labels, [n, T] each. See `Metric`."""
        return paired_rows(judge(pred.detach(), target, mask), "spearman")

    def compute(self, state: Rows) -> Value:
        """Mean of the tasks' correlations."""
        return over_tasks(_correlation, state)


def _area(scores: Tensor, labels: Tensor) -> float:
    """Area under the ROC curve as Mann and Whitney's U: positives' ranks, shared among ties."""
    positive = labels > 0.5
    ones = int(positive.sum())
    above = float(mid_ranks(scores)[positive].sum()) - ones * (ones + 1) / 2
    return above / (ones * (len(labels) - ones))


def _average_precision(scores: Tensor, labels: Tensor) -> float:
    if scores.isnan().any():
        return math.nan
    _, place, tied = scores.unique(return_inverse=True, return_counts=True)
    hits = place.bincount(labels, minlength=len(tied)).flip(0)
    precision = hits.cumsum(0) / tied.flip(0).cumsum(0)
    return float((hits * precision).sum() / labels.sum())


def _coefficient(pred: Tensor, target: Tensor) -> float:
    residual = (target - pred).square().sum()
    return 1 - float(residual / (target - target.mean()).square().sum())


def _correlation(pred: Tensor, target: Tensor) -> float:
    return float(torch.stack([mid_ranks(pred), mid_ranks(target)]).corrcoef()[0, 1])
