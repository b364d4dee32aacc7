"""What metrics share: decisions, rows and sums of labels, means over tasks and classes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gymspace.training.labels import Judged, Mask, judge, require_classes, require_pairs
from gymspace.training.states import Rows, Sums, Value

Score = Callable[[Tensor, Tensor], float]


def decide(judged: Judged, name: str) -> Tensor:
    """The class id of each row, or for paired labels whether each is judged positive."""
    if judged.multiclass:
        require_classes(judged, "metrics", name)
        return judged.pred.argmax(1)
    require_pairs(judged, "metrics", name)
    return judged.pred > 0


def gap_of(pred: Tensor, target: Tensor, mask: Mask, name: str) -> tuple[Tensor, Tensor]:
    """Output minus label in float64, 0 where there is no label; and where there is one."""
    judged = judge(pred.detach(), target, mask)
    require_pairs(judged, "metrics", name)
    gap = judged.pred.double() - judged.target.double()
    return torch.where(judged.labelled, gap, 0.0), judged.labelled


def sums(*parts: Tensor) -> Sums:
    """Each of ``parts`` [N] or [N, T] summed over its rows: [parts, T]."""
    added = torch.stack([part.sum(0, dtype=torch.float64) for part in parts])
    return Sums(added.reshape(len(parts), -1).cpu())


def rows(*columns: Tensor) -> Rows:
    """The columns on the CPU."""
    return Rows(tuple(column.cpu() for column in columns))


def paired_rows(judged: Judged, name: str) -> Rows:
    """Outputs and labels of the rows that have a label, NaN in those of their tasks without."""
    require_pairs(judged, "metrics", name)
    pred, target, labelled = (t.unsqueeze(1) if t.dim() == 1 else t for t in judged)
    target = torch.where(labelled, target.double(), math.nan)
    kept = labelled.any(1)
    return rows(pred[kept].double(), target[kept])


def by_class(judged: Judged, name: str) -> Rows:
    """As `paired_rows`; of C > 2 classes the softmax [n, C] and class ids [n], of two a score."""
    if not judged.multiclass:
        return paired_rows(judged, name)
    require_classes(judged, "metrics", name)
    logits, truth = judged.pred[judged.labelled].double(), judged.target[judged.labelled]
    if logits.shape[1] > 2:
        return rows(logits.softmax(1), truth)
    return rows(logits[:, 1:] - logits[:, :1], truth.double().unsqueeze(1))


def over_tasks(score: Score, state: Rows) -> Value:
    """Mean over columns of ``score(outputs, labels)`` of labelled rows; NaN where all are alike.

    Class ids are a column of zeros and ones for each class.
    """
    preds, labels = state.columns
    if labels.dim() == 1:
        per_class = labels.unsqueeze(1) == torch.arange(preds.shape[1])
        return over_tasks(score, Rows((preds, per_class.double())))._replace(n=len(labels))
    known = ~labels.isnan()
    values, defined = [], []
    for pred, label, here in zip(preds.T, labels.T, known.T, strict=True):
        label = label[here]
        defined.append(len(label) > 0 and bool(label.min() < label.max()))
        values.append(score(pred[here], label) if defined[-1] else math.nan)
    return mean(torch.tensor(values, dtype=torch.float64), torch.tensor(defined), known.sum())


def mid_ranks(values: Tensor) -> Tensor:
    """Ranks [n] from 1 on in float64, tied values sharing their mean; NaN if one of them is."""
    if values.isnan().any():
        return torch.full_like(values, math.nan, dtype=torch.float64)
    _, place, tied = values.unique(return_inverse=True, return_counts=True)
    return (tied.cumsum(0) - (tied - 1) / 2).double()[place]


def mean(values: Tensor, defined: Tensor, n: Tensor) -> Value:
    """Mean of the defined values; an undefined one is left out, a NaN among the others is not."""
    undefined = int(values.numel() - defined.sum())
    return Value(float(values[defined].mean()), int(n), undefined)
