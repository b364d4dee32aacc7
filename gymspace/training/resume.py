"""A trial's state between epochs, saved and restored so that it continues bit for bit."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gymspace.spec import TrialSpec, trial_id
from gymspace.training.checkpoint import CheckpointError, load, rng_state, set_rng_state
from gymspace.training.course import Course
from gymspace.training.fit import Fit

BEST, LAST = "best.pt", "last.pt"
FORMAT = 1
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Saved:
    """Where a trial was left: its course, the rows of its history, the seconds it took."""

    course: Course
    rows: Sequence[Mapping[str, float]] = ()
    seconds: float = 0.0


def snapshot(spec: TrialSpec, trial: Fit, saved: Saved) -> dict[str, Any]:
    """All that the rest of the trial depends on, in plain data and tensors.

    ``model`` is the one that was evaluated; where that is an average, ``trained`` is the other one.
    """
    return {
        **origin(spec, trial),
        "model": trial.judged.state_dict(),
        **_beside(trial),
        "optimizer": trial.optimizer.state_dict(),
        "scheduler": trial.scheduler.state_dict(),
        "rng": rng_state(),
        "course": asdict(saved.course),
        "rows": [dict(row) for row in saved.rows],
        "seconds": saved.seconds,
    }


def _beside(trial: Fit) -> dict[str, Any]:
    if trial.averaged is None:
        return {}
    return {"trained": trial.model.state_dict(), "averaged": int(trial.averaged.n_averaged)}


def origin(spec: TrialSpec, trial: Fit) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued: trial, weights, form of the file."""
    weights = {name: list(value.shape) for name, value in trial.model.state_dict().items()}
    return {"format": FORMAT, "trial": trial_id(spec), "weights": weights}


def restore(path: Path, spec: TrialSpec, trial: Fit) -> Saved:
    """Put ``trial`` where the checkpoint at ``path`` left it; without one, at the start.

    A checkpoint that cannot be read, or of other code or another trial, is left alone: the trial
    starts anew.
    """
    fresh = Saved(Course(spec.metric, trial.metrics[spec.metric].direction))
    try:
        state = load(path)
    except FileNotFoundError:
        return fresh
    except CheckpointError as error:
        log.warning("starting anew: %s", error)
        return fresh
    if any(state.get(key) != value for key, value in origin(spec, trial).items()):
        log.warning("starting anew: %s is of another trial, or of other code", path)
        return fresh
    trial.judged.load_state_dict(state["model"])
    if trial.averaged is not None:
        trial.model.load_state_dict(state["trained"])
        trial.averaged.n_averaged.fill_(state["averaged"])
    trial.optimizer.load_state_dict(state["optimizer"])
    trial.scheduler.load_state_dict(state["scheduler"])
    set_rng_state(state["rng"])
    log.info("resumed after epoch %d", state["course"]["epochs"] - 1)
    return Saved(Course(**state["course"]), state["rows"], state["seconds"])
