"""Samplers and pruners, built from their components."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import BasePruner, NopPruner
from optuna.samplers import BaseSampler

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component


def build_sampler(component: Component, *seed: int) -> BaseSampler:
    """The sampler of `sweep.sampler`, its random numbers seeded by all numbers of ``seed``.

    Raises:
        ConfigError: arguments that it does not take, or something that is no sampler.
    """
    mixed = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return _build("sweep.sampler", component, BaseSampler, seed=mixed)


def build_pruner(component: Component, directions: Sequence[str]) -> BasePruner:
    """The pruner of `sweep.pruner`.

    Raises:
        ConfigError: as for a sampler; several objectives, which nothing can be pruned by.
    """
    pruner = _build("sweep.pruner", component, BasePruner)
    if len(directions) > 1 and not isinstance(pruner, NopPruner):
        problem = "cannot prune by several sweep.objectives: leave one, or set sweep.pruner=none"
        raise ConfigError("sweep.pruner", problem, value=component.label)
    return pruner


def _build(key: str, component: Component, kind: type, **context: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        try:
            built = registry.build(key, component, **context)
        except (ValueError, TypeError, ImportError) as error:
            problem = f"cannot be made: {error}"
            raise ConfigError(key, problem, value=component.label) from error
    if not isinstance(built, kind):
        raise ConfigError(key, f"is no {kind.__name__} of Optuna", value=component.name)
    return built
