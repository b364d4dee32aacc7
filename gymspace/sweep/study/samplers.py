"""Samplers and pruners, built from their components."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError
from optuna.pruners import BasePruner, NopPruner
from optuna.samplers import BaseSampler

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.sweep.spaces.space import Space
from gymspace.sweep.study.params import Params
from gymspace.sweep.study.proposals import Direction


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


@contextmanager
def proposing(sampler: str) -> Iterator[None]:
    """Tell in one line that a sampler failed to propose.

    Raises:
        ConfigError: it did.
    """
    try:
        yield
    except UpdateFinishedTrialError:
        raise
    except (ValueError, TypeError, ArithmeticError, RuntimeError, ImportError) as error:
        problem = f"does not work on this space: {error}"
        raise ConfigError("sweep.sampler", problem, value=sampler) from error


def rehearse(
    sampler: BaseSampler, label: str, space: Space, directions: Sequence[Direction]
) -> None:
    """Let a sampler propose in memory, so that its mistakes are told before a study is made.

    Raises:
        ConfigError: it cannot work on this space, or towards so many objectives.
    """
    study = optuna.create_study(sampler=sampler, directions=list(directions))
    with proposing(label):
        Params(space, {}).draw(study.ask())


def _build(key: str, component: Component, kind: type, **context: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        built = registry.build(key, component, **context)
    if not isinstance(built, kind):
        raise ConfigError(key, f"is no {kind.__name__} of Optuna", value=component.name)
    return built
