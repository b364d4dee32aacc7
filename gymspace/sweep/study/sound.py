"""What is wrong with the settings of a study, as far as that shows without a storage or a build."""

import optuna

from gymspace.schema import Component
from gymspace.sweep.spaces.space import Space
from gymspace.sweep.study.proposals import Direction
from gymspace.sweep.study.samplers import build_pruner, build_sampler, rehearse
from gymspace.sweep.study.storage import opener


def require_sound(
    space: Space, objectives: int, sampler: Component, pruner: Component, storage: str | None
) -> None:
    """Make the sampler and the pruner of a study, let it propose once, and look at its storage.

    Nothing is opened, and nothing written.

    Raises:
        ConfigError: one that cannot be made, or does not fit the space or so many objectives.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    anyhow: list[Direction] = ["maximize"] * objectives
    build_pruner(pruner, anyhow)
    rehearse(build_sampler(sampler, 0), sampler.label, space, anyhow)
    if storage is not None:
        opener(storage)
