"""How a trial is going: its best epoch so far, and whether it should go on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gymspace.training.fit import Epoch

# A training loss this many times the first one (or 1) is beyond recovery, even while finite.
EXPLODED = 1e4


@dataclass(frozen=True)
class Course:
    """The state of a trial between epochs; every change makes a new one.

    ``best`` holds the scores of ``best_epoch`` and ``undefined`` the tasks or classes that a metric
    had to leave out there; ``diverged`` says why the trial is beyond recovery.
    """

    metric: str
    direction: str
    epochs: int = 0
    best_epoch: int | None = None
    best: tuple[tuple[str, float], ...] = ()
    undefined: tuple[tuple[str, int], ...] = ()
    first_loss: float | None = None
    diverged: str | None = None

    def after(self, epoch: Epoch) -> "Course":
        """The course once ``epoch`` is over; ties keep the earlier epoch and nan is never best."""
        here = replace(self, epochs=epoch.epoch + 1)
        if not epoch.scores:
            return here
        loss = epoch.scores["train_loss"].value
        first = loss if self.first_loss is None else self.first_loss
        here = replace(here, first_loss=first)
        if not math.isfinite(loss) or loss > EXPLODED * max(first, 1.0):
            return replace(here, diverged=f"train_loss is {loss:.4g} at epoch {epoch.epoch}")
        if not self._improves(epoch.scores[f"val_{self.metric}"].value):
            return here
        return replace(
            here,
            best_epoch=epoch.epoch,
            best=tuple((name, score.value) for name, score in epoch.scores.items()),
            undefined=tuple((n, s.undefined) for n, s in epoch.scores.items() if s.undefined),
        )

    def stops(self, patience: int | None) -> bool:
        """Whether to stop now: diverged, or no better epoch within the last ``patience``."""
        if self.diverged:
            return True
        since = self.epochs - 1 - (-1 if self.best_epoch is None else self.best_epoch)
        return patience is not None and since >= patience

    def outcome(self) -> dict[str, Any]:
        """Status, reason, best epoch and its scores, as the result file has them."""
        done = {"status": "done", "error": None}
        if self.diverged:
            done = {"status": "diverged", "error": self.diverged}
        elif self.best_epoch is None:
            error = f"val_{self.metric} was undefined at every evaluation: no epoch to choose"
            done = {"status": "failed", "error": error}
        scores: Mapping[str, float] = {} if self.diverged else dict(self.best)
        best = None if self.diverged else self.best_epoch
        undefined = {"undefined": dict(self.undefined)} if self.undefined else {}
        return {**done, "best_epoch": best, "epochs": self.epochs, **scores, **undefined}

    def _improves(self, value: float) -> bool:
        if math.isnan(value) or self.best_epoch is None:
            return not math.isnan(value)
        best = dict(self.best)[f"val_{self.metric}"]
        return value > best if self.direction == "max" else value < best
