"""The sweeper that `-m` runs: it hands what Hydra composed to gymspace and decides nothing."""

from dataclasses import dataclass
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class GymspaceSweeperConf:
    """The node ``hydra.sweeper``."""

    _target_: str = "hydra_plugins.gymspace_sweeper.sweeper.GymspaceSweeper"


ConfigStore.instance().store(group="hydra/sweeper", name="gymspace", node=GymspaceSweeperConf)


class GymspaceSweeper(Sweeper):
    """Takes the composed config and the overrides of the command line."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.config, self.loader = config, hydra_context.config_loader

    def sweep(self, arguments: list[str]) -> Any:
        from gymspace.__main__ import multirun

        return multirun(self.config, arguments, self.loader)
