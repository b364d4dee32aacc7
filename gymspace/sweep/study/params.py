"""A space in Optuna's terms: parameters named like config keys, asked for one after another."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import BaseTrial
from pydantic import ValidationError

from gymspace.schema import Component
from gymspace.sweep.spaces.dimension import Dimension, Range, same
from gymspace.sweep.spaces.space import Assignment, Space

PART = "sweep.space"  # the parameter that chooses the sub-space of a union


@dataclass(frozen=True)
class Slot:
    """A dimension with its parameter; ``labels`` stand for its choices, which may be mappings."""

    dimension: Dimension
    name: str
    distribution: BaseDistribution
    labels: tuple[Any, ...] = ()

    def draw(self, trial: BaseTrial, assignment: Assignment, others: Mapping[str, "Slot"]) -> Any:
        """The value of the dimension in a trial that has ``assignment`` so far."""
        if self.dimension.zipped is not None:
            other = others[self.dimension.zipped].dimension
            return self.dimension.choices[other.index(assignment[other.key])]
        asked = _suggest(trial, self.name, self.distribution)
        if self.dimension.range is None:
            return self.dimension.choices[_index(self.labels, asked)]
        return _nearest(self.dimension.range, asked)

    def label(self, value: Any) -> Any:
        """What the parameter is when the dimension has ``value``."""
        return self.labels[self.dimension.index(value)] if self.labels else value


class Params:
    """The parameters of a space.

    A parameter is named like its key. Optuna keeps to one set of choices for each name; another
    set under the same key (in another part of a union, after an extension) is part of the name.
    ``known`` are the distributions that the study's trials have already.
    """

    def __init__(self, space: Space, known: Mapping[str, BaseDistribution]):
        taken = dict(known)
        self._space = space
        self._parts = [{d.key: _slot(d, taken) for d in p.dimensions} for p in space.parts]
        self._numbers = CategoricalDistribution(range(len(space.parts)))
        self._part = _named(PART, self._numbers, taken)

    def draw(self, trial: BaseTrial) -> Assignment:
        """The design that a trial has, or is given now by its sampler."""
        slots = self._parts[self._choose(trial)]
        assignment: dict[str, Any] = {}
        for key, slot in slots.items():
            if slot.dimension.active(assignment):
                assignment[key] = slot.draw(trial, assignment, slots)
        return assignment

    def fixed(self, assignment: Assignment) -> dict[str, Any]:
        """The parameters of a trial that has ``assignment``, for Optuna's queue.

        Raises:
            ValueError: it is no design of the space.
        """
        index = self._space.part_of(assignment)
        slots = [self._parts[index][key] for key in assignment]
        chosen = {self._part: index} if len(self._parts) > 1 else {}
        own = [slot for slot in slots if slot.dimension.zipped is None]
        return {**chosen, **{s.name: s.label(assignment[s.dimension.key]) for s in own}}

    def _choose(self, trial: BaseTrial) -> int:
        return 0 if len(self._parts) == 1 else _suggest(trial, self._part, self._numbers)


def _slot(dimension: Dimension, taken: dict[str, BaseDistribution]) -> Slot:
    if dimension.range is not None:
        distribution = _numbers(dimension.range)
        return Slot(dimension, _named(dimension.key, distribution, taken), distribution)
    labels = _labels(dimension.choices)
    choices = CategoricalDistribution(labels)
    name = "" if dimension.zipped else _named(dimension.key, choices, taken)
    return Slot(dimension, name, choices, labels)


def _numbers(numbers: Range) -> BaseDistribution:
    if numbers.kind == "int":
        step = int(numbers.step or 1)
        return IntDistribution(int(numbers.low), int(numbers.high), log=numbers.log, step=step)
    return FloatDistribution(numbers.low, numbers.high, log=numbers.log, step=numbers.step)


def _labels(choices: Sequence[Any]) -> tuple[Any, ...]:
    """Scalars as they are, components and lists as text; JSON for all if Python mixes them up."""
    labels = tuple(_label(choice) for choice in choices)
    if len(set(labels)) < len(labels):  # True and 1 are equal
        labels = tuple(json.dumps(choice, sort_keys=True) for choice in choices)
    return labels


def _label(choice: Any) -> Any:
    if choice is None or isinstance(choice, bool | int | float | str):
        return choice
    try:
        return Component.model_validate(choice).label
    except ValidationError:
        return json.dumps(choice, sort_keys=True)


def _nearest(numbers: Range, asked: Any) -> Any:
    """What was asked for, without the rounding of Optuna's steps: 0.3, not 0.30000000000000004."""
    if numbers.kind == "int" or numbers.step is None:
        return asked
    return numbers.values[round((asked - numbers.low) / numbers.step)]


def _index(labels: Sequence[Any], label: Any) -> int:
    return next(index for index, other in enumerate(labels) if same(other, label))


def _named(key: str, wanted: BaseDistribution, taken: dict[str, BaseDistribution]) -> str:
    """The name of a parameter; ``taken`` learns of it."""
    if not _mix(taken.setdefault(key, wanted), wanted):
        text = json.dumps(wanted._asdict(), sort_keys=True)
        shown = text if len(text) <= 100 else sha256(text.encode()).hexdigest()[:8]
        key = f"{key} {shown}"
        taken.setdefault(key, wanted)
    return key


def _mix(one: BaseDistribution, other: BaseDistribution) -> bool:
    """Whether Optuna takes both for one parameter: equal choices, or numbers of one kind."""
    if type(one) is not type(other):
        return False
    if isinstance(one, CategoricalDistribution):
        return repr(one) == repr(other)
    return one._asdict()["log"] == other._asdict()["log"]


_SUGGEST: Mapping[type, Callable[..., Any]] = {
    CategoricalDistribution: lambda trial, name, d: trial.suggest_categorical(name, d.choices),
    IntDistribution: lambda trial, name, d: trial.suggest_int(
        name, d.low, d.high, step=d.step, log=d.log
    ),
    FloatDistribution: lambda trial, name, d: trial.suggest_float(
        name, d.low, d.high, step=d.step, log=d.log
    ),
}


def _suggest(trial: BaseTrial, name: str, distribution: BaseDistribution) -> Any:
    return _SUGGEST[type(distribution)](trial, name, distribution)
