"""Losses as sums over judged labels with their number, so that batches and ranks divide once."""

from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.labels import Mask, judge, require_classes, require_pairs


@dataclass(frozen=True, eq=False)
class LossSum:
    """The ``total`` (a scalar with its gradient) over ``count`` labels; 0 over no label is 0."""

    total: Tensor
    count: int


# (pred, target, mask) as for a `Metric`; what has no label is no part of the value or the gradient.
Loss = Callable[[Tensor, Tensor, Mask], LossSum]


def cross_entropy(label_smoothing: float = 0.0) -> Loss:
    """Cross entropy of class logits [N, C] and class ids [N].

    Raises:
        ConfigError: ``label_smoothing`` is not within 0 and 1; later, the shapes do not fit.
    """
    if not isinstance(label_smoothing, int | float) or not 0 <= label_smoothing <= 1:
        raise ConfigError("loss.label_smoothing", "must be between 0 and 1", value=label_smoothing)

    def loss(pred: Tensor, target: Tensor, mask: Mask) -> LossSum:
        judged = judge(pred, target, mask)
        require_classes(judged, "loss", "cross_entropy")
        pred, target, labelled = judged
        rows = labelled.nonzero().squeeze(1)
        # Selecting, not weighing by zero: 0 x inf of an unlabelled row would be a NaN gradient.
        if len(rows) < len(target):
            pred, target = pred[rows], target[rows]
        total = F.cross_entropy(pred, target, reduction="sum", label_smoothing=label_smoothing)
        return LossSum(total, len(rows))

    return loss


def bce() -> Loss:
    """Binary cross entropy of one logit per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("bce", F.binary_cross_entropy_with_logits, zero_one=True)


def mse() -> Loss:
    """Squared error of one output per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("mse", F.mse_loss)


def mae() -> Loss:
    """Absolute error of one output per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("mae", F.l1_loss)


@dataclass(frozen=True)
class Paired:
    """A loss by ``name`` of one output for each label, which is 0 or 1 where it is ``zero_one``."""

    name: str
    function: Callable[..., Tensor]
    zero_one: bool = False

    def __call__(self, pred: Tensor, target: Tensor, mask: Mask) -> LossSum:
        """``function``, summed. See `Loss`."""
        judged = judge(pred, target, mask)
        require_pairs(judged, "loss", self.name)
        outputs = judged.pred.masked_select(judged.labelled)
        labels = judged.target.masked_select(judged.labelled).to(outputs.dtype)
        return LossSum(self.function(outputs, labels, reduction="sum"), len(labels))
