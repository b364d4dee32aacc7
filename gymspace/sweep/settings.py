"""What a command asks for besides the trial itself: the sweep, its folder, its workers."""

import os
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from gymspace import registry
from gymspace.schema import Component, Frozen, validate
from gymspace.spec import TrialSpec

_FORBIDDEN = ("/", "\\", "\0")


class SweepSettings(Frozen):
    """The keys below ``sweep``; ``seeds`` and ``folds`` are a number of repeats or a list."""

    name: str = Field("sweep", min_length=1, max_length=100)
    draw: Component = Component(name="grid")
    seeds: int | tuple[int, ...] = Field(1, union_mode="left_to_right")
    folds: int | tuple[int, ...] = Field(1, union_mode="left_to_right")
    space: Any = None  # read by `parse_space`
    constraints: tuple[str, ...] = Field((), strict=False)
    sampler: Component = Component(name="tpe")
    pruner: Component = Component(name="none")
    objectives: tuple[str, ...] = Field((), strict=False)
    storage: str | None = Field(None, min_length=1)
    hours: float | None = Field(None, gt=0)
    at_end: Literal["finish", "checkpoint"] = "finish"
    retry: Literal["missing", "failed"] = "missing"
    dry: bool = False
    extend: bool = False
    stale: Literal["error", "keep", "rerun"] = "error"

    @field_validator("name")
    @classmethod
    def _is_a_folder_name(cls, name: str) -> str:
        if name in (".", "..") or any(part in name for part in _FORBIDDEN):
            raise ValueError("names a folder below `results`, so it is one path segment")
        return name

    @field_validator("constraints", "objectives")
    @classmethod
    def _differ(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if twice := [text for text in texts if texts.count(text) > 1]:
            raise ValueError(f"has {twice[0]} twice")
        return texts

    @field_validator("seeds", "folds", mode="before")
    @classmethod
    def _are_repeats(cls, value: Any) -> Any:
        value = tuple(value) if isinstance(value, list) else value
        numbers = value if isinstance(value, tuple) else (value,)
        if any(type(n) is not int for n in numbers):
            raise ValueError("must be a whole number or a list of them")
        if isinstance(value, int) and value < 1:
            raise ValueError("must be 1 or more")
        if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
            raise ValueError("must be a list of different numbers of 0 or more")
        return value


class Settings(Frozen):
    """Settings of a command; none of them is part of any id."""

    workers: int | None = Field(None, ge=1)
    results: str = Field("results", min_length=1)
    sweep: SweepSettings = SweepSettings()


def split_config(config: Mapping[str, Any]) -> tuple[dict[str, Any], Settings]:
    """A composed config as the plain config of its trials, and the settings.

    Raises:
        ConfigError: an unknown or ill-typed setting, an unknown draw, sampler or pruner.
    """
    names = Settings.model_fields
    settings = validate(Settings, {k: v for k, v in config.items() if k in names})
    for name in ("draw", "sampler", "pruner"):
        registry.lookup(f"sweep.{name}", getattr(settings.sweep, name).name)
    return {k: v for k, v in config.items() if k not in names}, settings


def slots(settings: Settings, ranks: int) -> int:
    """How many trials of so many ranks run at once: ``workers``, or as the cores allow."""
    return settings.workers or max(1, len(os.sched_getaffinity(0)) // ranks)


def repeats(settings: SweepSettings, base: TrialSpec) -> list[dict[str, int]]:
    """Every (seed, fold) of a design, in order; numbers count from the base's own."""
    seeds, folds = _numbers(settings.seeds, base.seed), _numbers(settings.folds, base.fold)
    return [{"seed": seed, "fold": fold} for fold in folds for seed in seeds]


def _numbers(given: int | tuple[int, ...], first: int) -> list[int]:
    return list(range(first, first + given)) if isinstance(given, int) else list(given)
