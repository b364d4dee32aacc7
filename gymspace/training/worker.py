"""What a warm rank does when asked: look at a design, or run a trial of it."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import lru_cache, singledispatchmethod
from pathlib import Path
from typing import Any

import torch

from gymspace.errors import ConfigError
from gymspace.graph.task import Source, Task, load_source, source_spec, split_task
from gymspace.models.budget import count_params
from gymspace.records import LOG, Facts, Inspect, Report, Run
from gymspace.schema import Component
from gymspace.spec import TrialSpec
from gymspace.training.batches import SPLITS
from gymspace.training.encoded import encoded
from gymspace.training.fit import Fit
from gymspace.training.group import Group
from gymspace.training.guard import process_kept, source_kept
from gymspace.training.idle import ineffective
from gymspace.training.labels import require_zero_one
from gymspace.training.toys import try_out
from gymspace.training.trial import assemble, run_trial

log = logging.getLogger(__name__)
ENCODINGS = "gymspace.encodings"


class Worker:
    """One rank's handler; it keeps the last graphs it loaded for the trials to come."""

    def __init__(self, rank: int, ranks: int):
        self.group = Group(rank, ranks)
        self.source = lru_cache(maxsize=2)(load_source)
        self.encoded = lru_cache(maxsize=2)(self._encoded)

    def __call__(self, request: Inspect | Run, report: Report) -> Any:
        with process_kept():
            return self._answer(request, report)

    @singledispatchmethod
    def _answer(self, request: Any, report: Callable[[Any], None]) -> Any:
        raise TypeError(f"no answer to a {type(request).__name__}")

    @_answer.register
    def _(self, request: Inspect, report: Callable[[Any], None]) -> Facts:
        with told(report), self._lent(request.spec) as task:
            return inspect(request.spec, task)

    @_answer.register
    def _(self, request: Run, report: Report) -> dict[str, Any]:
        level = logging.ERROR if self.group.rank else logging.INFO
        with trial_log(request.folder / LOG, level):
            log.info("pid %d", os.getpid())
            try:
                with self._lent(request.spec) as task:
                    return run_trial(request, task, self.group, report)
            except Exception:
                log.exception("rank %d failed", self.group.rank)
                raise

    @contextmanager
    def _lent(self, spec: TrialSpec) -> Iterator[Task]:
        """The task of ``spec``, whose source other trials will use again."""
        task = self._task(spec)
        with source_kept(task.source, self._forget):
            yield task

    def _task(self, spec: TrialSpec) -> Task:
        check_device(spec)
        return split_task(spec, self.encoded(source_spec(spec), spec.encodings))

    def _forget(self) -> None:
        self.source.cache_clear()
        self.encoded.cache_clear()

    def _encoded(self, spec: TrialSpec, encodings: tuple[Component, ...]) -> Source:
        return encoded(self.source(spec), encodings, Path(spec.data.cache).absolute())


def inspect(spec: TrialSpec, task: Task) -> Facts:
    """Build the design of ``spec`` for ``task`` and try it on a toy graph, without training.

    Raises:
        ConfigError: widths, arguments, labels, loss and metrics that do not go together.
    """
    trial, source = assemble(spec, task, Group()), task.source
    trial.model.eval()
    try_out(spec, trial.model, source)
    _try_judges(spec, trial, task)
    warnings = tuple(ineffective(spec, trial.model))
    directions = {name: metric.direction for name, metric in trial.metrics.items()}
    made_of = repr(trial.model)
    return Facts(count_params(trial.model), made_of, task.split.text, warnings, directions)


def _try_judges(spec: TrialSpec, trial: Fit, task: Task) -> None:
    """Have the loss and the metrics of ``trial`` judge outputs of 0."""
    source = task.source
    zeros = source.graph.x.new_zeros(source.y.size(0), source.dim_out)
    masks = [getattr(task.split, split) for split in SPLITS]
    for mask in masks:
        trial.loss(zeros, source.y, mask)
    if getattr(trial.loss, "zero_one", False):
        require_zero_one(source.y, "loss", spec.loss.label, "mse and mae")
    for name, metric in trial.metrics.items():
        if getattr(metric, "zero_one", False):
            require_zero_one(source.y, "metrics", name, "mae, rmse and r2")
        for mask in masks:
            metric.update(zeros, source.y, mask)


@contextmanager
def told(report: Callable[[str], None]) -> Iterator[None]:
    """Report each line that long work on encodings logs meanwhile."""
    handler, logger = logging.Handler(logging.INFO), logging.getLogger(ENCODINGS)
    handler.emit = lambda record: report(record.getMessage())  # type: ignore[method-assign]
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


def check_device(spec: TrialSpec) -> None:
    """Raise `ConfigError` if the device asked for is not there."""
    if spec.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device", "this machine has no usable GPU: use cpu", value="cuda")


@contextmanager
def trial_log(path: Path, level: int = logging.INFO) -> Iterator[None]:
    """Send what is logged or warned meanwhile, from ``level`` on, to the trial's own file."""
    handler = logging.FileHandler(path, mode="a")
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        # What the user's code prints belongs to its trial too.
        with redirect_stdout(handler.stream), redirect_stderr(handler.stream):
            yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(before)
        root.removeHandler(handler)
        handler.close()
