"""The metrics by name: accuracy, F1, AUC, MAE, RMSE and R2, each over labelled rows only."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.labels import Judged, Mask, judge, require_classes, require_pairs
from gymspace.training.states import Direction, Metric, Rows, State, Sums, Value

__all__ = ["AUC", "F1", "MAE", "R2", "RMSE", "Accuracy", "Metric", "Rows", "State", "Sums", "Value"]

Score = Callable[[Tensor, Tensor], float]


class Accuracy:
    """Share of labels hit by the largest logit, or by the sign of a single one.

    Of several tasks, the mean; a task without labels is undefined.
    """

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of hits and labels, [2, T]. See `Metric`."""
        judged = judge(pred.detach(), target, mask)
        hits = _decide(judged, "accuracy").eq(judged.target).logical_and_(judged.labelled)
        return _sums(hits, judged.labelled)

    def compute(self, state: Sums) -> Value:
        """Hits / labels, mean over tasks."""
        hits, labels = state.values
        return _mean(hits / labels, labels > 0, labels.sum())


class F1:
    """Harmonic mean of precision and recall, averaged over classes (one logit: two) or over tasks.

    A class or task that is neither predicted nor present is undefined and not in the macro average.
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
        decided, labelled = _decide(judged, "f1"), judged.labelled
        if judged.target.dim() == 2:
            decided, truth = decided & labelled, judged.target.gt(0.5) & labelled
            return _sums(decided & truth, decided, truth, labelled)
        classes = judged.pred.shape[1] if judged.multiclass else 2
        # Rows that do not count go to one class too many.
        truth = judged.target.long().where(labelled, classes)
        decided = decided.long().where(labelled, classes)
        kinds = decided.where(decided == truth, classes), decided, truth, truth
        counts = [kind.bincount(minlength=classes + 1)[:classes] for kind in kinds]
        return Sums(torch.stack(counts).double().cpu())

    def compute(self, state: Sums) -> Value:
        """2 hits / (decisions + truths)."""
        macro = self.average == "macro"
        hits, decided, truth, labels = state.values if macro else state.values.sum(1, keepdim=True)
        return _mean(2 * hits / (decided + truth), decided + truth > 0, labels.sum())


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
        judged = judge(pred.detach(), target, mask)
        if not judged.multiclass:
            return _paired_rows(judged, "auc")
        require_classes(judged, "metrics", "auc")
        logits, truth = judged.pred[judged.labelled].double(), judged.target[judged.labelled]
        if logits.shape[1] > 2:
            return _rows(logits.softmax(1), truth)
        return _rows(logits[:, 1:] - logits[:, :1], truth.double().unsqueeze(1))

    def compute(self, state: Rows) -> Value:
        """Mean of the areas of tasks or classes."""
        scores, labels = state.columns
        if labels.dim() == 2:
            return _over_tasks(_area, scores, labels)
        per_class = labels.unsqueeze(1) == torch.arange(scores.shape[1])
        return _over_tasks(_area, scores, per_class.double())._replace(n=len(labels))


class MAE:
    """Mean absolute error; of several tasks, the mean. A task without labels is undefined."""

    direction: Direction = "min"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of errors and labels, [2, T]. See `Metric`."""
        gap, labelled = _gap(pred, target, mask, "mae")
        return _sums(gap.abs(), labelled)

    def compute(self, state: Sums) -> Value:
        """Errors / labels, mean over tasks."""
        errors, labels = state.values
        return _mean(errors / labels, labels > 0, labels.sum())


class RMSE:
    """Root of the mean squared error; of several tasks, the mean of the roots."""

    direction: Direction = "min"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums:
        """Sums of squared errors and labels, [2, T]. See `Metric`."""
        gap, labelled = _gap(pred, target, mask, "rmse")
        return _sums(gap.square(), labelled)

    def compute(self, state: Sums) -> Value:
        """Roots of errors / labels, mean over tasks."""
        errors, labels = state.values
        return _mean((errors / labels).sqrt(), labels > 0, labels.sum())


class R2:
    """Coefficient of determination, 1 - residual / total squares; of several tasks, the mean.

    It keeps rows: sums of squares would lose digits where the mean is large. A task whose labels
    are all alike is undefined (scikit-learn calls it 0 or 1).
    """

    direction: Direction = "max"

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Rows:
        """Rows of outputs and labels, [n, T] each. See `Metric`."""
        return _paired_rows(judge(pred.detach(), target, mask), "r2")

    def compute(self, state: Rows) -> Value:
        """Mean of the tasks' coefficients."""
        return _over_tasks(_coefficient, *state.columns)


def _decide(judged: Judged, name: str) -> Tensor:
    """The class id of each row, or for paired labels whether each is judged positive."""
    if judged.multiclass:
        require_classes(judged, "metrics", name)
        return judged.pred.argmax(1)
    require_pairs(judged, "metrics", name)
    return judged.pred > 0


def _gap(pred: Tensor, target: Tensor, mask: Mask, name: str) -> tuple[Tensor, Tensor]:
    """Output minus label in float64, 0 where there is no label; and where there is one."""
    judged = judge(pred.detach(), target, mask)
    require_pairs(judged, "metrics", name)
    gap = judged.pred.double() - judged.target.double()
    return torch.where(judged.labelled, gap, 0.0), judged.labelled


def _sums(*parts: Tensor) -> Sums:
    sums = torch.stack([part.sum(0, dtype=torch.float64) for part in parts])
    return Sums(sums.reshape(len(parts), -1).cpu())


def _rows(*columns: Tensor) -> Rows:
    return Rows(tuple(column.cpu() for column in columns))


def _paired_rows(judged: Judged, name: str) -> Rows:
    """Outputs and labels of the rows that have a label, NaN in those of their tasks without."""
    require_pairs(judged, "metrics", name)
    pred, target, labelled = (t.unsqueeze(1) if t.dim() == 1 else t for t in judged)
    target = torch.where(labelled, target.double(), math.nan)
    kept = labelled.any(1)
    return _rows(pred[kept].double(), target[kept])


def _over_tasks(score: Score, preds: Tensor, labels: Tensor) -> Value:
    """Mean over columns of ``score(outputs, labels)`` of labelled rows; NaN where all are alike."""
    known = ~labels.isnan()
    values, defined = [], []
    for pred, label, here in zip(preds.T, labels.T, known.T, strict=True):
        label = label[here]
        defined.append(len(label) > 0 and bool(label.min() < label.max()))
        values.append(score(pred[here], label) if defined[-1] else math.nan)
    return _mean(torch.tensor(values, dtype=torch.float64), torch.tensor(defined), known.sum())


def _area(scores: Tensor, labels: Tensor) -> float:
    """Area under the ROC curve as Mann and Whitney's U: positives' ranks, shared among ties."""
    if scores.isnan().any():
        return math.nan
    _, place, tied = scores.unique(return_inverse=True, return_counts=True)
    rank = tied.cumsum(0) - (tied - 1) / 2
    positive = labels > 0.5
    ones = int(positive.sum())
    above = float(rank.double()[place][positive].sum()) - ones * (ones + 1) / 2
    return above / (ones * (len(labels) - ones))


def _coefficient(pred: Tensor, target: Tensor) -> float:
    residual = (target - pred).square().sum()
    return 1 - float(residual / (target - target.mean()).square().sum())


def _mean(values: Tensor, defined: Tensor, n: Tensor) -> Value:
    """Mean of the defined values; an undefined one is left out, a NaN among the others is not."""
    undefined = int(values.numel() - defined.sum())
    return Value(float(values[defined].mean()), int(n), undefined)
