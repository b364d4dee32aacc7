"""Learning rate schedules beside those in `optim`: warm-ups, one cycle, and one that waits."""

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR, ReduceLROnPlateau

from gymspace.errors import ConfigError
from gymspace.training.states import Direction

KEY = "optim.scheduler"
# Share of the full rate in epoch 0 of a warm-up, which would else be trained with none.
_FLOOR = 1e-6


def advance(schedule: LRScheduler, value: float | None) -> None:
    """Step ``schedule`` once an epoch is over, with ``value`` if its `step` cannot do without.

    ``value`` is the choosing metric's on validation; without one (nothing was evaluated) a
    schedule that needs it stays where it is.
    """
    step: Callable[..., None] = schedule.step
    if not needs_value(schedule):
        step()
    elif value is not None:
        step(value)


def needs_value(schedule: LRScheduler) -> bool:
    """Whether the schedule's `step` cannot be called without an argument."""
    try:
        inspect.signature(schedule.step).bind()
    except TypeError:
        return True
    return False


def plateau(
    optimizer: Optimizer,
    direction: Direction,
    factor: float = 0.1,
    patience: int = 10,
    threshold: float = 0.0,
    cooldown: int = 0,
    min_lr: float = 0.0,
) -> LRScheduler:
    """Multiply the rate by ``factor`` when the choosing metric on validation gets no better.

    It does so after more than ``patience`` evaluations without an improvement by ``threshold``
    (any one, as for the best epoch, if it is 0; in units of the metric: a share of the best value
    would fail where that is negative). An undefined value (nan) is no improvement. The
    ``cooldown`` evaluations that follow are not counted. Torch's `ReduceLROnPlateau`.

    Raises:
        ConfigError: an argument out of range.
    """
    _require(0 < factor < 1, "factor", factor, "must be between 0 and 1, both excluded")
    counts = {"patience": patience, "cooldown": cooldown, "threshold": threshold, "min_lr": min_lr}
    for name, value in counts.items():
        _require(value >= 0, name, value, "must not be negative")
    _require(min_lr <= _rate(optimizer), "min_lr", min_lr, f"is above lr={_rate(optimizer)}")
    return ReduceLROnPlateau(
        optimizer, direction, factor, patience, threshold, "abs", cooldown, min_lr
    )


def warmup_linear(
    optimizer: Optimizer, epochs: int, warmup: int | float = 0.1, eta_min: float = 0.0
) -> LRScheduler:
    """Linearly up to the full rate in the epochs of ``warmup``, then linearly to ``eta_min``.

    ``warmup`` is a number of epochs, or a share of them all if it is not a whole number (0.1),
    rounded up. In epoch e of it the rate is e / warmup of the full one, so in epoch 0 next to none;
    after it, (epochs - e) / (epochs - warmup): ``eta_min`` is met where the training ends.

    As GraphGPS steps it (Rampasek et al., "Recipe for a General, Powerful, Scalable Graph
    Transformer", 2022): Hugging Face transformers' `get_linear_schedule_with_warmup`, by epoch.

    Raises:
        ConfigError: ``warmup`` is negative or leaves no epoch of full rate, ``eta_min`` is above
            the full rate.
    """
    return _warmed(optimizer, epochs, warmup, eta_min, partial(_power, power=1.0))


def warmup_cosine(
    optimizer: Optimizer, epochs: int, warmup: int | float = 0.1, eta_min: float = 0.0
) -> LRScheduler:
    """Linearly up to the full rate as `warmup_linear`, then half a cosine down to ``eta_min``.

    As GraphGPS: transformers' `get_cosine_schedule_with_warmup`, by epoch. Without ``warmup`` it
    is the schedule ``cosine``.

    Raises:
        ConfigError: as for `warmup_linear`.
    """
    return _warmed(optimizer, epochs, warmup, eta_min, _half_cosine)


def warmup_polynomial(
    optimizer: Optimizer,
    epochs: int,
    warmup: int | float = 0.1,
    power: float = 2.0,
    eta_min: float = 0.0,
) -> LRScheduler:
    """Linearly up as `warmup_linear`, then down as the ``power`` of the share that is left.

    Transformers' `get_polynomial_decay_schedule_with_warmup`, by epoch. There ``power`` is 1 by
    default, which is `warmup_linear`, and the rate ends at 1e-7.

    Raises:
        ConfigError: as for `warmup_linear`, or ``power`` is not positive.
    """
    _require(power > 0, "power", power, "must be positive")
    return _warmed(optimizer, epochs, warmup, eta_min, partial(_power, power=power))


def one_cycle(
    optimizer: Optimizer,
    epochs: int,
    pct_start: float = 0.3,
    anneal_strategy: str = "cos",
    cycle_momentum: bool = True,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> LRScheduler:
    """From ``lr / div_factor`` up to ``lr``, then down to ``lr / div_factor / final_div_factor``.

    The full rate is reached at the end of the share ``pct_start`` of the epochs, the least one in
    the last epoch. With ``cycle_momentum`` the momentum (Adam's first beta) goes from 0.95 to 0.85
    and back, whatever the optimiser was given. Smith & Topin, "Super-Convergence", 2019; torch's
    `OneCycleLR`.

    Raises:
        ConfigError: an argument out of range, a first phase of a single epoch, or
            ``cycle_momentum`` for an optimiser without momentum.
    """
    _require(0 <= pct_start < 1, "pct_start", pct_start, "must be at least 0 and below 1")
    # Torch would divide by the length of that phase, which is the epochs after its first.
    single = "makes the first phase a single epoch: take another share"
    _require(pct_start * epochs != 1, "pct_start", pct_start, single)
    for name, value in {"div_factor": div_factor, "final_div_factor": final_div_factor}.items():
        _require(value > 0, name, value, "must be positive")
    defaults = optimizer.defaults
    fits = not cycle_momentum or "momentum" in defaults or "betas" in defaults
    none = f"{type(optimizer).__name__} has no momentum to cycle: set it to false"
    _require(fits, "cycle_momentum", cycle_momentum, none)
    strategies: dict[str, Literal["cos", "linear"]] = {"cos": "cos", "linear": "linear"}
    if anneal_strategy not in strategies:
        raise ConfigError(
            f"{KEY}.anneal_strategy", "unknown choice", value=anneal_strategy, choices=strategies
        )
    return OneCycleLR(
        optimizer,
        max_lr=_rate(optimizer),
        total_steps=epochs,
        pct_start=float(pct_start),
        anneal_strategy=strategies[anneal_strategy],
        cycle_momentum=cycle_momentum,
        div_factor=div_factor,
        final_div_factor=final_div_factor,
    )


def _warmed(
    optimizer: Optimizer,
    epochs: int,
    warmup: int | float,
    eta_min: float,
    shape: Callable[[float], float],
) -> LRScheduler:
    """``shape`` maps the share of the epochs after the warm-up that is left, 1 to 0, to 1 to 0."""
    rate, rise = _rate(optimizer), _warmup_epochs(warmup, epochs)
    _require(0 <= eta_min <= rate, "eta_min", eta_min, f"must be between 0 and lr={rate}")
    least = eta_min / rate

    def factor(epoch: int) -> float:
        if epoch < rise:
            return max(_FLOOR, epoch / rise)
        left = (epochs - epoch) / (epochs - rise)
        return least + (1 - least) * shape(max(left, 0.0))

    return LambdaLR(optimizer, factor)


def _warmup_epochs(warmup: int | float, epochs: int) -> int:
    number = isinstance(warmup, int | float) and not isinstance(warmup, bool)
    _require(number, "warmup", warmup, "must be a number of epochs, or a share of them")
    if isinstance(warmup, float):
        _require(0 <= warmup < 1, "warmup", warmup, "as a share it must be at least 0 and below 1")
        # A share keeps an epoch of full rate; rounding: 0.07 * 100 is a little above 7.
        return min(math.ceil(round(warmup * epochs, 9)), epochs - 1)
    fits = f"must be at least 0 and below train.epochs={epochs}"
    _require(0 <= warmup < epochs, "warmup", warmup, fits)
    return warmup


def _half_cosine(left: float) -> float:
    return (1 - math.cos(math.pi * left)) / 2


def _power(left: float, power: float) -> float:
    return left**power


def _rate(optimizer: Optimizer) -> float:
    return optimizer.param_groups[0]["lr"]


def _require(fits: bool, argument: str, value: Any, problem: str) -> None:
    if not fits:
        raise ConfigError(f"{KEY}.{argument}", problem, value=value)
