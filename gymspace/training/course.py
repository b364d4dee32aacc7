"""How a trial is going: its best epoch so far, and whether it should go on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gymspace.records import GO, Verdict
from gymspace.training.fit import Epoch

# A training loss that ends this many times above where it began (or above 1) has blown up.
BLOWN_UP = 100.0
DONE, PRUNED, PAUSED = "done", "pruned", "paused"
STATUS = {"go": DONE, "stop": PRUNED, "checkpoint": PAUSED}


@dataclass(frozen=True)
class Course:
    """The state of a trial between epochs; every change makes a new one.

    ``evaluated`` is the last epoch that was; ``best`` holds the scores of ``best_epoch`` and
    ``undefined`` the tasks or classes that a metric had to leave out there. ``first_loss`` and
    ``last_loss`` were met in training; ``broken`` says which loss was no number any more, and when.
    """

    metric: str
    direction: str
    epochs: int = 0
    evaluated: int = -1
    best_epoch: int | None = None
    best: tuple[tuple[str, float], ...] = ()
    undefined: tuple[tuple[str, int], ...] = ()
    first_loss: float | None = None
    last_loss: float | None = None
    broken: str | None = None

    def after(self, epoch: Epoch) -> "Course":
        """The course once ``epoch`` is over; ties keep the earlier epoch and nan is never best."""
        first = epoch.loss if self.first_loss is None else self.first_loss
        here = replace(self, epochs=epoch.epoch + 1, first_loss=first, last_loss=epoch.loss)
        for name, value in _losses(epoch).items():
            if not math.isfinite(value):
                return replace(here, broken=f"{name} was {value} at epoch {epoch.epoch}")
        if not epoch.scores:
            return here
        here = replace(here, evaluated=epoch.epoch)
        if not self._improves(epoch.scores[f"val_{self.metric}"].value):
            return here
        return replace(
            here,
            best_epoch=epoch.epoch,
            best=tuple((name, score.value) for name, score in epoch.scores.items()),
            undefined=tuple((n, s.undefined) for n, s in epoch.scores.items() if s.undefined),
        )

    def stops(self, patience: int | None) -> bool:
        """Whether to stop now: broken, or evaluated ``patience`` epochs after the best one."""
        if self.broken:
            return True
        since = self.evaluated - (-1 if self.best_epoch is None else self.best_epoch)
        return patience is not None and since >= patience

    @property
    def diverged(self) -> str | None:
        """Why what was learnt is worthless: a loss that is no number, or far above the first one.

        Judged by losses met in training: evaluated ones also rise, for a while, where BatchNorm's
        running statistics lag behind. So a rise that the training recovers from does not count.
        """
        if self.broken or self.first_loss is None or self.last_loss is None:
            return self.broken
        if self.last_loss <= BLOWN_UP * max(self.first_loss, 1.0):
            return None
        return f"training loss rose from {self.first_loss:.4g} to {self.last_loss:.4g}"

    def outcome(self, verdict: Verdict = GO) -> dict[str, Any]:
        """Status, reason, best epoch and its scores, as the result file has them.

        ``verdict`` is the parent's if it cut the trial short, whatever the losses were by then.
        """
        cut = verdict.kind != "go"
        if self.diverged and not cut:
            return self._row("diverged", self.diverged)
        if self.best_epoch is None and not cut:
            error = f"val_{self.metric} was undefined at every evaluation: no epoch to choose"
            return self._row("failed", error)
        undefined = {"undefined": dict(self.undefined)} if self.undefined else {}
        row = self._row(STATUS[verdict.kind], verdict.reason or None, self.best_epoch)
        return {**row, **dict(self.best), **undefined}

    def _row(self, status: str, error: str | None, best: int | None = None) -> dict[str, Any]:
        return {"status": status, "error": error, "best_epoch": best, "epochs": self.epochs}

    def _improves(self, value: float) -> bool:
        if math.isnan(value) or self.best_epoch is None:
            return not math.isnan(value)
        best = dict(self.best)[f"val_{self.metric}"]
        return value > best if self.direction == "max" else value < best


def _losses(epoch: Epoch) -> Mapping[str, float]:
    """The losses by which an epoch is judged; the test split has no say in what becomes of it."""
    names = [name for name in ("train_loss", "val_loss") if name in epoch.scores]
    return {"training loss": epoch.loss, **{name: epoch.scores[name].value for name in names}}
