"""Losses as sums over judged labels with their number, so that batches and ranks divide once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.labels import Mask, judge, require_classes, require_pairs


@dataclass(frozen=True, eq=False)
class LossSum:
    """The ``total`` (a scalar with its gradient) over ``count`` labels; 0 over no label is 0."""

    total: Tensor
    count: float


# (pred, target, mask) as for a `Metric`; what has no label is no part of the value or the gradient.
Loss = Callable[[Tensor, Tensor, Mask], LossSum]


def cross_entropy(
    label_smoothing: float = 0.0,
    weights: tuple[float, ...] | str | None = None,
    counts: Tensor | None = None,
) -> Loss:
    """Cross entropy of class logits [N, C] and class ids [N].

    With ``weights``, one for each class, rows count as much as their class (as in torch, the mean
    is over the sum of weights). ``balanced``: inversely to ``counts`` [C], the training rows of
    each class, as in scikit-learn.

    Raises:
        ConfigError: ``label_smoothing`` is not within 0 and 1, a weight is negative; later, the
            shapes do not fit, or there are not as many weights as classes.
    """
    within("loss.label_smoothing", label_smoothing)
    if isinstance(weights, str):
        weights = _balanced(weights, counts)
    odd = [weight for weight in weights or () if not isinstance(weight, int | float) or weight < 0]
    if odd:
        raise ConfigError("loss.weights", "must be numbers from 0 on", value=odd[0])

    def loss(pred: Tensor, target: Tensor, mask: Mask) -> LossSum:
        pred, target = labelled_classes(pred, target, mask, "cross_entropy")
        weight = None if weights is None else _weights(weights, pred)
        total = F.cross_entropy(
            pred, target, weight, reduction="sum", label_smoothing=label_smoothing
        )
        return LossSum(total, len(target) if weight is None else float(weight[target].sum()))

    return loss


def _balanced(weights: str, counts: Tensor | None) -> tuple[float, ...]:
    if weights != "balanced":
        problem = "neither a list of numbers nor a known word"
        raise ConfigError("loss.weights", problem, value=weights, choices=("balanced",))
    if counts is None:
        raise ConfigError("loss.weights", "needs labels that are class ids", value=weights)
    shares = counts.sum() / (counts.count_nonzero() * counts)
    return tuple(shares.nan_to_num(posinf=0.0).tolist())


def _weights(weights: tuple[float, ...], pred: Tensor) -> Tensor:
    if len(weights) != pred.size(1):
        problem = f"{len(weights)} weights for {pred.size(1)} classes"
        raise ConfigError("loss.weights", problem, value=list(weights))
    return pred.new_tensor(weights)


def focal(gamma: float = 2.0) -> Loss:
    """Cross entropy in which easy rows count less, by (1 - p)^gamma (Lin et al. 2017).

    Of class logits [N, C] and class ids [N], or of one logit for each label of 0 or 1.

    Raises:
        ConfigError: ``gamma`` is negative; later, the shapes do not fit.
    """
    if not isinstance(gamma, int | float) or gamma < 0:
        raise ConfigError("loss.gamma", "must be 0 or more", value=gamma)
    binary = Paired("focal", partial(_binary_focal, gamma), zero_one=True)

    def loss(pred: Tensor, target: Tensor, mask: Mask) -> LossSum:
        if not judge(pred, target, mask).multiclass:
            return binary(pred, target, mask)
        pred, target = labelled_classes(pred, target, mask, "focal")
        surprise = F.cross_entropy(pred, target, reduction="none")
        return LossSum(_focused(surprise, gamma).sum(), len(target))

    loss.zero_one = True  # type: ignore[attr-defined]  # what numbers that are labels must be
    return loss


def _binary_focal(gamma: float, outputs: Tensor, labels: Tensor, reduction: str) -> Tensor:
    surprise = F.binary_cross_entropy_with_logits(outputs, labels, reduction="none")
    return _focused(surprise, gamma).sum()


def _focused(surprise: Tensor, gamma: float) -> Tensor:
    """``surprise``, which is -log p, times (1 - p)^gamma."""
    return (-torch.expm1(-surprise)).clamp(min=1e-12) ** gamma * surprise


def labelled_classes(pred: Tensor, target: Tensor, mask: Mask, name: str) -> tuple[Tensor, Tensor]:
    """Logits [n, C] and class ids [n] of the labelled rows.

    Selecting, not weighing by zero: 0 x inf of an unlabelled row would be a NaN gradient.
    """
    judged = judge(pred, target, mask)
    require_classes(judged, "loss", name)
    rows = judged.labelled.nonzero().squeeze(1)
    if len(rows) == len(judged.target):
        return judged.pred, judged.target
    return judged.pred[rows], judged.target[rows]


def within(key: str, value: float) -> None:
    """Raise `ConfigError` unless ``value`` of ``key`` is a share."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(key, "must be between 0 and 1", value=value)


def bce() -> Loss:
    """Binary cross entropy of one logit per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("bce", F.binary_cross_entropy_with_logits, zero_one=True)


def mse() -> Loss:
    """Squared error of one output per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("mse", F.mse_loss)


def mae() -> Loss:
    """Absolute error of one output per label: [N], [N, 1], or [N, T] for several tasks."""
    return Paired("mae", F.l1_loss)


def smooth_l1(beta: float = 1.0) -> Loss:
    """Squared error below ``beta``, absolute above it, smooth in between (Huber's, over beta)."""
    if not isinstance(beta, int | float) or beta <= 0:
        raise ConfigError("loss.beta", "must be above 0", value=beta)
    return Paired("smooth_l1", partial(F.smooth_l1_loss, beta=beta))


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
