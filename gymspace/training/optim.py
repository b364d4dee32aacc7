"""Optimisers and learning rate schedules, built from their slots."""

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import (
    ConstantLR,
    CosineAnnealingLR,
    LRScheduler,
    MultiStepLR,
    ReduceLROnPlateau,
)

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.spec import OptimSpec
from gymspace.training.schedules import KEY as _SCHEDULER
from gymspace.training.states import Direction

_OPTIMIZER = "optim.optimizer"


def build_optimizer(spec: OptimSpec, parameters: Iterable[nn.Parameter]) -> Optimizer:
    """The optimiser of ``spec`` over ``parameters``, with its rate and weight decay.

    Without ``decay_norms``, parameters of fewer than two dimensions are in a group of their own
    that does not decay: biases, scales and shifts of norms, slopes of PReLU.

    Raises:
        ConfigError: an unknown or repeated argument, one out of range, a decay that the optimiser
            does not know, or no parameter to train.
    """
    for name, value in spec.optimizer.args:
        if name in ("lr", "weight_decay"):
            raise ConfigError(f"{_OPTIMIZER}.{name}", f"set optim.{name} instead", value=value)
    make = registry.factory(_OPTIMIZER, spec.optimizer.name)
    if spec.weight_decay and "weight_decay" not in inspect.signature(make).parameters:
        problem = f"'{spec.optimizer.name}' has none, so it must be 0"
        raise ConfigError("optim.weight_decay", problem, value=spec.weight_decay)
    given: list[Any] = list(parameters)
    if not given:
        raise ConfigError("model", "has no parameters to train")
    if spec.weight_decay and not spec.decay_norms:
        given = _groups(given)
    rates = {"lr": spec.lr, "weight_decay": spec.weight_decay}
    made = _build(_OPTIMIZER, spec.optimizer, Optimizer, given, **rates)
    _require_step(_OPTIMIZER, spec.optimizer, made)
    return made


def build_scheduler(
    spec: OptimSpec, optimizer: Optimizer, epochs: int, direction: Direction
) -> LRScheduler:
    """The schedule of ``spec``, stepped once per epoch: see `schedules.advance`.

    Its factory is offered ``epochs`` and the ``direction`` of the metric that chooses the epoch.

    Raises:
        ConfigError: an unknown or missing argument, or one out of range.
    """
    offered = {"epochs": epochs, "direction": direction}
    made = _build(_SCHEDULER, spec.scheduler, LRScheduler, optimizer, **offered)
    _require_step(_SCHEDULER, spec.scheduler, made, 0.0)
    if isinstance(made, ReduceLROnPlateau) and made.mode != direction:
        problem = f"must be {direction}, as the metric that chooses the epoch"
        raise ConfigError(f"{_SCHEDULER}.mode", problem, value=made.mode)
    return made


def cosine(optimizer: Optimizer, epochs: int, eta_min: float = 0.0) -> LRScheduler:
    """Half a cosine from the full rate to ``eta_min`` at the end of the training.

    Loshchilov & Hutter, "SGDR", 2017, without restarts; as GraphGym uses it.
    """
    return CosineAnnealingLR(optimizer, T_max=epochs, eta_min=eta_min)


def step(
    optimizer: Optimizer, milestones: int | Sequence[int] = (30, 60, 90), gamma: float = 0.1
) -> LRScheduler:
    """Multiply the rate by ``gamma`` after each of the epochs in ``milestones``.

    Raises:
        ConfigError: ``milestones`` is neither a whole number nor several.
    """
    epochs = [milestones] if isinstance(milestones, int) else list(milestones)
    if not all(isinstance(epoch, int) for epoch in epochs):
        problem = "must be a whole number or a list of those"
        raise ConfigError(f"{_SCHEDULER}.milestones", problem, value=milestones)
    return MultiStepLR(optimizer, milestones=epochs, gamma=gamma)


def constant(optimizer: Optimizer) -> LRScheduler:
    """The full rate throughout."""
    return ConstantLR(optimizer, factor=1.0, total_iters=0)


def _build(key: str, component: Component, kind: type, *positional: Any, **context: Any) -> Any:
    """Build, and check the kind."""
    made: Any = registry.build(key, component, *positional, **context)
    if not isinstance(made, kind):
        problem = f"makes a {type(made).__name__}, not a {kind.__name__}"
        raise ConfigError(key, problem, value=component.label)
    return made


def _groups(parameters: Sequence[nn.Parameter]) -> list[dict[str, Any]]:
    flat = [p for p in parameters if p.dim() < 2]
    deep = [p for p in parameters if p.dim() >= 2]
    groups: list[dict[str, Any]] = [{"params": deep}, {"params": flat, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def _require_step(key: str, component: Component, made: Any, *values: float) -> None:
    """Hold ``step`` to what the loop can give it: nothing, or ``values`` (no closure, as LBFGS)."""
    signature = inspect.signature(made.step)
    for given in ((), values):
        try:
            signature.bind(*given)
        except TypeError as error:
            problem = f"cannot be used: its step() is {error}"
        else:
            return
    raise ConfigError(key, problem, value=component.label)
