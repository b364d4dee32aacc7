"""The width at which a design has as many parameters as were asked for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import nn

from gymspace.errors import ConfigError
from gymspace.models.known import Known
from gymspace.models.model import build_model
from gymspace.spec import ModelSpec

WIDEST = 2**16
# Widths in a row that may not fit (heads must divide them, say) before the search turns back.
MISSES = 64


@dataclass(frozen=True)
class Matched:
    """Parameters wanted and reached, (reached - wanted) / wanted, and ``model.dim_inner``."""

    target: int
    achieved: int
    error: float
    width: int


def count_params(model: nn.Module) -> int:
    """Number of trainable parameters."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


@lru_cache(maxsize=1024)
def count_design(spec: ModelSpec, dim_in: int, dim_out: int, known: Known) -> int:
    """Number of trainable parameters of a design; no random number is drawn.

    Raises:
        ConfigError: the design cannot be built.
    """
    with torch.random.fork_rng(devices=[]):
        try:
            with torch.device("meta"):
                return count_params(build_model(spec, dim_in, dim_out, known))
        except (ConfigError, RuntimeError, ValueError) as error:
            if isinstance(error, ConfigError) and error.__cause__ is None:
                raise
            # A component that computes with what is known needs real tensors.
            return count_params(build_model(spec, dim_in, dim_out, known))


@lru_cache(maxsize=1024)
def match_width(
    spec: ModelSpec, dim_in: int, dim_out: int, known: Known, target: int, tolerance: float
) -> Matched:
    """The ``model.dim_inner`` whose number of parameters comes closest to ``target``.

    What was found is kept, as every repeat of a design asks for it.

    Raises:
        ConfigError: no width can be built, or the closest is further off than ``tolerance``.
    """

    def count(width: int) -> int:
        sized = spec.model_copy(update={"dim_inner": width})
        return count_design(sized, dim_in, dim_out, known)

    search = _Search(count, target)
    search.run(spec.dim_inner, dim_in)
    if not search.counts:
        raise ConfigError("budget", f"no width fits: {search.why}", value=target)
    width = min(search.counts, key=lambda width: (abs(search.counts[width] - target), width))
    achieved = search.counts[width]
    error = (achieved - target) / target
    if abs(error) > tolerance:
        problem = f"the nearest is {achieved} parameters at model.dim_inner={width}, {error:+.1%}"
        problem += f" off, more than {tolerance:.1%}, with model.layers_mp={spec.layers_mp}"
        problem += f" model.stage={spec.stage.label}{_hint(error, search)}"
        raise ConfigError("budget", problem, value=target)
    return Matched(target, achieved, error, width)


def _hint(error: float, search: "_Search") -> str:
    """What would do where the target lies between two widths that are next to each other."""
    low, high = min(search.counts.values()), max(search.counts.values())
    if not low < search.target < high:
        return ""
    enough = math.ceil(abs(error) * 1000) / 1000
    return f": no width comes closer, so set budget.tolerance={enough:g}, or a larger budget"


class _Search:
    """Brackets the target by doubling and halving, then closes in; ``counts`` is all it met."""

    def __init__(self, count: Callable[[int], int], target: int):
        self.count = count
        self.target = target
        self.counts: dict[int, int] = {}
        self.why: ConfigError | None = None

    def run(self, start: int, dim_in: int) -> None:
        """Search from width ``start``; ``dim_in`` may be the only one that fits."""
        found = self.first(start, WIDEST + 1) or self.first(1, start)
        if found is None:
            self.first(dim_in, dim_in + 1)
            return
        low, high = found, found
        while low > 1 and self.counts.get(low, self.target) >= self.target:
            high, low = low, low // 2
            low = self.first(low, high) or low
        while high < WIDEST and self.counts.get(high, 0) < self.target:
            below = self.first(min(2 * high, WIDEST), WIDEST + 1)
            low, high = high, below or WIDEST
            if below is None:
                break
        self.close(low, high)

    def close(self, low: int, high: int) -> None:
        """Meet the nearest widths between ``low`` and ``high``; each step narrows them."""
        steps = 0
        while high - low > 1:
            # A bisection now and then bounds the steps however oddly the counts grow.
            middle = (low + high) // 2 if steps % 3 == 2 else self.guess(low, high)
            middle = min(max(middle, low + 1), high - 1)
            steps += 1
            found = self.first(middle, high)
            if found is not None and self.counts[found] < self.target:
                low = found
            else:
                high = middle

    def guess(self, low: int, high: int) -> int:
        """Where the target lies if the root of the count grows evenly with the width."""
        ends = (self.counts.get(low), self.counts.get(high))
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            return (low + high) // 2
        roots = [math.sqrt(end) for end in (ends[0], ends[1], self.target)]
        return low + round((high - low) * (roots[2] - roots[0]) / (roots[1] - roots[0]))

    def first(self, start: int, end: int) -> int | None:
        """The first width from ``start`` on and before ``end`` that fits, of the next few."""
        for width in range(start, min(end, start + MISSES)):
            if width in self.counts:
                return width
            try:
                self.counts[width] = self.count(width)
            except ConfigError as error:
                self.why = error
            else:
                return width
        return None
