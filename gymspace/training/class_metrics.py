"""Metrics from counts per class: F1, precision, recall and balanced accuracy."""

from typing import Literal

import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.judging import decide, mean, sums
from gymspace.training.labels import Judged, Mask, judge
from gymspace.training.states import Direction, Sums, Value


class Counted:
    """A ratio of hits, decisions and truths, averaged over classes (one logit: two) or over tasks.

    A class or task that is neither predicted nor present is undefined and not in the macro average;
    of others 0 / 0 is 0, as in scikit-learn.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def __init__(self, average: Literal["macro", "micro"] = "macro"):
        """Take ``macro`` (mean over classes) or ``micro`` (from counts summed over classes)."""
        choices = ("macro", "micro")
        if average not in choices:
            raise ConfigError("metrics.average", "unknown choice", value=average, choices=choices)
        self.average = average

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of hits, decisions, truths and labels per class or task, [4, C]. See `Metric`."""
        judged = judge(pred.detach(), target, mask)
        decided = decide(judged, type(self).__name__.lower())
        if judged.target.dim() == 1:
            return _class_counts(judged, decided)
        decided, truth = decided & judged.labelled, judged.target.gt(0.5) & judged.labelled
        return sums(decided & truth, decided, truth, judged.labelled)

    def compute(self, state: Sums) -> Value:
        """The ratio of each class, or of all together."""
        macro = self.average == "macro"
        hits, decided, truth, labels = state.values if macro else state.values.sum(1, keepdim=True)
        values = self.ratio(hits, decided, truth).nan_to_num(0.0)
        return mean(values, decided + truth > 0, labels.sum())

    def ratio(self, hits: Tensor, decided: Tensor, truth: Tensor) -> Tensor:
        """The value of each class from its counts [C]; NaN stands for 0 / 0."""
        raise NotImplementedError


class F1(Counted):
    """Harmonic mean of precision and recall. See `Counted` for averages and what is undefined."""

    def ratio(self, hits: Tensor, decided: Tensor, truth: Tensor) -> Tensor:
        return 2 * hits / (decided + truth)


class Precision(Counted):
    """Share of the decisions for a class that are right. See `Counted` for the rest."""

    def ratio(self, hits: Tensor, decided: Tensor, truth: Tensor) -> Tensor:
        return hits / decided


class Recall(Counted):
    """Share of a class that is decided for. See `Counted` for averages and what is undefined."""

    def ratio(self, hits: Tensor, decided: Tensor, truth: Tensor) -> Tensor:
        return hits / truth


class BalancedAccuracy:
    """Mean recall of the classes present; of several tasks, the mean of theirs.

    A task without labels is undefined. scikit-learn's ``balanced_accuracy_score``.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of hits and truths [2, C, T], where T is 1 for class ids and C is 2 for tasks."""
        judged = judge(pred.detach(), target, mask)
        decided = decide(judged, "balanced_accuracy")
        if judged.target.dim() == 1:
            hits, _, truth, _ = _class_counts(judged, decided).values
            return Sums(torch.stack([hits, truth]).unsqueeze(2))
        truth = judged.target.gt(0.5)
        right = decided == truth
        sides = [truth & judged.labelled, ~truth & judged.labelled]
        counts = [[(right & side).sum(0) for side in sides], [side.sum(0) for side in sides]]
        return Sums(torch.stack([torch.stack(pair) for pair in counts]).double().cpu())

    def compute(self, state: Sums) -> Value:
        """Hits / truths, mean over classes, then over tasks."""
        hits, truth = state.values
        return mean((hits / truth).nanmean(0), truth.sum(0) > 0, truth.sum())


def _class_counts(judged: Judged, decided: Tensor) -> Sums:
    """Hits, decisions, truths and truths again of each class [4, C]."""
    classes = judged.pred.shape[1] if judged.multiclass else 2
    # Rows that do not count go to one class too many.
    truth = judged.target.long().where(judged.labelled, classes)
    decided = decided.long().where(judged.labelled, classes)
    kinds = decided.where(decided == truth, classes), decided, truth, truth
    counts = [kind.bincount(minlength=classes + 1)[:classes] for kind in kinds]
    return Sums(torch.stack(counts).double().cpu())
