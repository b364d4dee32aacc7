"""What a search is after: one or several columns of a trial's result, and their directions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gymspace.errors import ConfigError
from gymspace.spec import TrialSpec

Direction = Literal["maximize", "minimize"]
COSTS = ("params", "seconds")


@dataclass(frozen=True)
class Objective:
    """A column of `result.json` and where its good end is."""

    name: str
    direction: Direction

    def mean(self, results: Sequence[Mapping[str, Any]]) -> float:
        """The mean over the repeats of a design; nan if one of them has no such number."""
        values = [result.get(self.name) for result in results]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        return math.fsum(numbers) / len(values) if len(numbers) == len(values) else math.nan


def named(names: Sequence[str], spec: TrialSpec) -> tuple[str, ...]:
    """The objectives of ``sweep.objectives``; if there are none, the metric that chooses epochs.

    Raises:
        ConfigError: there is no such column, or it is of the test split.
    """
    measured = [f"{split}_{name}" for split in ("val", "train") for name in _measures(spec)]
    choices = (*measured, *COSTS)
    for name in names:
        if name.startswith("test_"):
            problem = "the test split has no say in what is chosen"
            raise ConfigError("sweep.objectives", problem, value=name, choices=choices)
        if name not in choices:
            raise ConfigError("sweep.objectives", "no such column", value=name, choices=choices)
    return tuple(names) or (f"val_{spec.metric}",)


def directed(names: Sequence[str], directions: Mapping[str, str]) -> tuple[Objective, ...]:
    """Objectives with their directions; those of metrics are told ("max" or "min")."""
    return tuple(
        Objective(name, "maximize" if directions.get(_measure(name)) == "max" else "minimize")
        for name in names
    )


def _measures(spec: TrialSpec) -> list[str]:
    return [*(metric.short for metric in spec.metrics), "loss"]


def _measure(name: str) -> str:
    return name if name in COSTS else name.partition("_")[2]
