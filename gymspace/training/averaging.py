"""A moving average of the weights, kept beside the model that is trained."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def averaged(model: nn.Module, decay: float) -> AveragedModel:
    """A copy of ``model`` that follows its weights, W <- d W + (1 - d) w after each step.

    The first step's weights are taken as they are; d grows from 2/11 as (1 + n) / (10 + n) over
    the n steps before, up to ``decay``, so that a short training is not judged by its first
    weights (as TensorFlow's `ExponentialMovingAverage` with ``num_updates``).

    Floating buffers are averaged alike: BatchNorm's statistics belong to the weights they were
    met with. Others (counts, indices), of which there is no mean, are the model's own.
    """

    @torch.no_grad()
    def follow(means: Sequence[Tensor], now: Sequence[Tensor], steps: Tensor | int) -> None:
        if not means[0].is_floating_point():
            for mean, value in zip(means, now, strict=True):
                mean.copy_(value)
            return
        before = int(steps)
        get_ema_multi_avg_fn(min(decay, (1 + before) / (10 + before)))(means, now, before)

    return AveragedModel(model, multi_avg_fn=follow, use_buffers=True)
