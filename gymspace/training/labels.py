"""Which labels of a batch are judged: those of the rows asked for that carry one."""

from typing import NamedTuple

import torch
from torch import Tensor

from gymspace.errors import ConfigError

# Rows to be judged: bool [N], or int64 [K] row numbers (faster where K is much smaller than N).
Mask = Tensor


class Judged(NamedTuple):
    """Outputs and labels of the rows asked for, without columns of width one.

    Shapes: ``pred`` [N] or [N, C]; ``target`` [N] or [N, T]; ``labelled`` bool, as ``target``.
    """

    pred: Tensor
    target: Tensor
    labelled: Tensor

    @property
    def multiclass(self) -> bool:
        """Whether each row has one class id for several outputs."""
        return self.pred.dim() == 2 and self.target.dim() == 1


def judge(pred: Tensor, target: Tensor, mask: Mask) -> Judged:
    """Take the rows of ``mask`` and mark their labels; NaN and negative class ids are no labels.

    Rows may remain that ``mask`` leaves out: only ``labelled`` says what counts.
    """
    pred = pred.squeeze(1) if pred.dim() == 2 and pred.shape[1] == 1 else pred
    target = target.squeeze(1) if target.dim() == 2 and target.shape[1] == 1 else target
    if mask.dtype != torch.bool:
        target = target[mask]
        return Judged(pred[mask], target, has_label(target))
    rows = mask if target.dim() == 1 else mask.unsqueeze(1)
    return Judged(pred, target, has_label(target).logical_and_(rows))


def has_label(target: Tensor) -> Tensor:
    """Bool, as ``target``: not NaN where it is floating, not negative where it holds class ids."""
    return target.isnan().logical_not_() if target.is_floating_point() else target >= 0


def require_classes(judged: Judged, key: str, name: str) -> None:
    """Raise `ConfigError` unless there are two or more outputs and one class id per row."""
    if not judged.multiclass or judged.target.is_floating_point():
        raise ConfigError(
            key, f"needs class ids and an output per class, but {_shapes(judged)}", value=name
        )


def require_pairs(judged: Judged, key: str, name: str) -> None:
    """Raise `ConfigError` unless there is one output for each label."""
    if judged.pred.shape != judged.target.shape:
        raise ConfigError(key, f"needs one output per label, but {_shapes(judged)}", value=name)


def require_zero_one(target: Tensor, key: str, name: str, others: str) -> None:
    """Raise `ConfigError`, hinting at ``others``, if numbers that are labels are not 0 or 1.

    Class ids are no numbers, and NaN is no label.
    """
    if not target.is_floating_point():
        return
    odd = target[(target.isnan() | (target == 0) | (target == 1)).logical_not_()]
    if len(odd):
        problem = f"needs labels of 0 and 1, and here is one of {odd[0].item():g}"
        raise ConfigError(key, f"{problem}: {others} go with such numbers", value=name)


def _shapes(judged: Judged) -> str:
    outputs, labels = (t.shape[1] if t.dim() == 2 else 1 for t in (judged.pred, judged.target))
    kind = "floating labels" if judged.target.is_floating_point() else "class ids"
    return f"here rows have outputs of width {outputs} and {kind} of width {labels}"
