"""One dimension of a space: the choices or the range of a config key, and when it exists."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from gymspace.errors import ConfigError

Assignment = Mapping[str, Any]
REPEATS = MappingProxyType({"seed": "sweep.seeds", "fold": "sweep.folds"})


def same(one: Any, other: Any) -> bool:
    """Equal and of one type: True is not 1, though Python says so."""
    return type(one) is type(other) and one == other


def matches(choice: Any, wanted: Any) -> bool:
    """Whether a choice is what a condition names; a component is named without its arguments."""
    name = choice.get("name") if isinstance(choice, Mapping) else choice
    return same(choice, wanted) or same(name, wanted)


@dataclass(frozen=True)
class Range:
    """All numbers from ``low`` to ``high``, both included; every ``step``-th of them, if given.

    With ``log`` the logarithm is drawn evenly. A `Dimension` that has it checks it.
    """

    low: float
    high: float
    kind: Literal["int", "float"]
    log: bool = False
    step: float | None = None

    @classmethod
    def of(cls, low: Any, high: Any, log: bool = False, step: Any = None) -> "Range":
        """A range of whole numbers if all that is given is whole."""
        given = [low, high, *([] if step is None else [step])]
        return cls(low, high, "int" if all(type(n) is int for n in given) else "float", log, step)

    @property
    def size(self) -> int | None:
        """How many numbers it holds; None if any number in between will do."""
        if self.kind == "float" and self.step is None:
            return None
        return int(self._span() // self._step()) + 1

    @cached_property
    def values(self) -> Sequence[Any]:
        """Its numbers in order; of a continuous range there are none to list."""
        if self.kind == "int":
            return range(int(self.low), int(self.high) + 1, int(self.step or 1))
        low, step = Decimal(repr(self.low)), self._step()
        return tuple(float(low + step * index) for index in range(self.size or 0))

    def at(self, share: float) -> int | float:
        """The number below which this ``share`` of all draws lies; 0 <= share < 1."""
        if self.log:
            pad = 0.5 if self.kind == "int" else 0.0
            low, high = math.log(self.low - pad), math.log(self.high + pad)
            value = min(max(math.exp(low + share * (high - low)), self.low), self.high)
            return round(value) if self.kind == "int" else value
        if self.size is not None:
            return self.values[int(share * self.size)]
        return self.low + share * (self.high - self.low)

    def __contains__(self, value: Any) -> bool:
        if type(value) is not (int if self.kind == "int" else float):
            return False
        return value in self.values if self.size is not None else self.low <= value <= self.high

    def fault(self) -> str | None:
        """What is wrong with it, if anything."""
        numbers = [self.low, self.high, *([] if self.step is None else [self.step])]
        if any(type(n) not in (int, float) or not math.isfinite(n) for n in numbers):
            return "needs numbers for low, high and step"
        if self.low >= self.high:
            return f"is upside down: low={self.low} is not below high={self.high}"
        if self.log and self.low <= 0:
            return f"is logarithmic, so low={self.low} must be above 0"
        if self.log and self.step is not None:
            return "has a step or is logarithmic, not both"
        if self.step is not None and (self.step <= 0 or self._span() % self._step()):
            return f"has step={self.step}, which does not lead from {self.low} to {self.high}"
        return None

    # In decimals, where ten steps of 0.1 are 1.
    def _span(self) -> Decimal:
        return Decimal(repr(self.high)) - Decimal(repr(self.low))

    def _step(self) -> Decimal:
        return Decimal(repr(1 if self.step is None else self.step))


@dataclass(frozen=True)
class Dimension:
    """A swept config key with its choices, or its range; ``alias`` names its column in tables.

    It exists only ``when`` other dimensions have one of the given values; ``zipped`` with another
    it has that one's index among its choices.

    Raises:
        ConfigError: a repeat, no choices or one given twice, a range that is none.
    """

    key: str
    choices: tuple[Any, ...] = ()
    alias: str | None = None
    range: Range | None = None
    when: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    zipped: str | None = None

    def __post_init__(self) -> None:
        at = f"sweep.space.{self.key}"
        if self.key in REPEATS:
            raise ConfigError(at, f"is a repeat, not a dimension: set {REPEATS[self.key]}")
        if self.range is not None and (fault := self.range.fault()):
            raise ConfigError(at, fault)
        if (self.range is None) == (not self.choices):
            raise ConfigError(
                at, "has no choices" if self.range is None else "has choices and a range"
            )
        if self.zipped is not None and self.range is not None:
            raise ConfigError(f"{at}.with", "needs choices, not a range", value=self.zipped)
        for index, choice in enumerate(() if self.zipped else self.choices):
            if any(same(choice, other) for other in self.choices[:index]):
                raise ConfigError(at, "is given twice", value=choice)

    @property
    def size(self) -> int | None:
        """How many values it has; None if it is continuous."""
        return len(self.choices) if self.range is None else self.range.size

    @property
    def values(self) -> Sequence[Any]:
        """Its values in order."""
        return self.choices if self.range is None else self.range.values

    @property
    def needs(self) -> set[str]:
        """The keys of the dimensions that it depends on."""
        return {key for key, _ in self.when} | ({self.zipped} if self.zipped else set())

    def active(self, assignment: Assignment) -> bool:
        """Whether it exists in a design that has ``assignment`` for the dimensions before it."""
        if self.zipped is not None and self.zipped not in assignment:
            return False
        return all(
            key in assignment and any(matches(assignment[key], value) for value in values)
            for key, values in self.when
        )

    def at(self, share: float) -> Any:
        """The value below which this ``share`` of all draws lies; 0 <= share < 1."""
        if self.range is not None:
            return self.range.at(share)
        return self.choices[int(share * len(self.choices))]

    def index(self, choice: Any) -> int:
        """The place of a choice.

        Raises:
            ValueError: it is none.
        """
        for index, other in enumerate(self.choices):
            if same(choice, other):
                return index
        raise ValueError(choice)

    def __contains__(self, value: Any) -> bool:
        if self.range is not None:
            return value in self.range
        return any(same(value, choice) for choice in self.choices)
