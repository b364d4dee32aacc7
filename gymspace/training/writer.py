"""Rank 0's hand on a trial's folder: history, events, checkpoints, and last of all the result."""

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gymspace.graph.saved import keep_split
from gymspace.graph.task import Task
from gymspace.records import HISTORY, RESULT, Run, write_json
from gymspace.training.checkpoint import load, save
from gymspace.training.course import Course
from gymspace.training.embeddings import write_embeddings
from gymspace.training.events import Events
from gymspace.training.fit import Fit
from gymspace.training.history import History
from gymspace.training.resume import BEST, LAST, Saved, snapshot

log = logging.getLogger(__name__)


class Writer:
    """Writes what a trial leaves, beginning with the epochs ``saved`` by an earlier attempt."""

    def __init__(self, run: Run, trial: Fit, saved: Saved, files: ExitStack):
        self.run = run
        self.trial = trial
        self.history = files.enter_context(History(run.folder / HISTORY))
        wanted = run.spec.log.tensorboard
        self.events = files.enter_context(Events(run.folder)) if wanted else None
        for row in saved.rows:
            self._record(row)

    def epoch(self, row: Mapping[str, float], course: Course, seconds: float) -> None:
        """Write an evaluated epoch, and the checkpoints if they are kept."""
        self._record(row)
        if self.run.spec.train.checkpoint:
            state = self._keep(course, seconds)
            if course.best_epoch == row["epoch"]:
                save(self.run.folder / BEST, state)

    def pause(self, course: Course, seconds: float) -> None:
        """Write what the trial needs to go on later, whether checkpoints are kept or not."""
        self._keep(course, seconds)
        log.info("paused after %d epochs", course.epochs)

    def finish(self, result: Mapping[str, Any], task: Task) -> None:
        """Write the result, which makes the trial count as finished."""
        if self.events:
            self.events.finish(self.run.choices, result)
        if self.run.spec.log.embeddings and result["status"] == "done":
            self._embed(result, task)
        path = keep_split(task.split, Path(self.run.spec.data.cache).absolute())
        log.info("split %s, kept in %s", task.split.text, path)
        why = f": {result['error']}" if result["error"] else ""
        log.info("%s after %d epochs%s", result["status"], result["epochs"], why)
        write_json(self.run.folder / RESULT, result)
        if not self.run.spec.train.checkpoint:
            (self.run.folder / LAST).unlink(missing_ok=True)

    def _keep(self, course: Course, seconds: float) -> dict[str, Any]:
        saved = Saved(course, self.history.rows, seconds)
        state = snapshot(self.run.spec, self.trial, saved)
        save(self.run.folder / LAST, state)
        return state

    def _embed(self, result: Mapping[str, Any], task: Task) -> None:
        """Write the embeddings at the best epoch if that was kept, else at the last one."""
        model, epoch = self.trial.judged, result["epochs"] - 1
        if self.run.spec.train.checkpoint:
            model.load_state_dict(load(self.run.folder / BEST)["model"])
            epoch = result["best_epoch"]
        write_embeddings(self.run.folder, model, task, epoch)

    def _record(self, row: Mapping[str, float]) -> None:
        self.history.add(row)
        if self.events:
            self.events.epoch(row)
