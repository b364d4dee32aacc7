"""What a warm rank does when asked: look at a design, or run a trial of it."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, singledispatchmethod
from pathlib import Path
from typing import Any

import torch

from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.graph.task import Source, Task, load_source, source_spec, split_task
from gymspace.records import LOG, Facts, Inspect, Run
from gymspace.spec import TrialSpec
from gymspace.training.batches import SPLITS
from gymspace.training.group import Group
from gymspace.training.trial import assemble, count_params, run_trial

log = logging.getLogger(__name__)


class Worker:
    """One rank's handler; it keeps the last graphs it loaded for the trials to come."""

    def __init__(self, rank: int, ranks: int):
        self.group = Group(rank, ranks)
        self.source = lru_cache(maxsize=2)(load_source)

    def __call__(self, request: Inspect | Run, report: Callable[[Any], None]) -> Any:
        return self._answer(request, report)

    @singledispatchmethod
    def _answer(self, request: Any, report: Callable[[Any], None]) -> Any:
        raise TypeError(f"no answer to a {type(request).__name__}")

    @_answer.register
    def _(self, request: Inspect, report: Callable[[Any], None]) -> Facts:
        return inspect(request.spec, self._task(request.spec))

    @_answer.register
    def _(self, request: Run, report: Callable[[Any], None]) -> dict[str, Any]:
        level = logging.ERROR if self.group.rank else logging.INFO
        with trial_log(request.folder / LOG, level):
            log.info("pid %d", os.getpid())
            try:
                return run_trial(request, self._task(request.spec), self.group, report)
            except Exception:
                log.exception("rank %d failed", self.group.rank)
                raise

    def _task(self, spec: TrialSpec) -> Task:
        check_device(spec)
        return split_task(spec, self.source(source_spec(spec)))


def inspect(spec: TrialSpec, task: Task) -> Facts:
    """Build the design of ``spec`` for ``task`` and try it on a toy graph, without training.

    Raises:
        ConfigError: widths, arguments, labels, loss and metrics that do not go together.
    """
    trial = assemble(spec, task, Group())
    trial.model.eval()
    toy = toy_graph(task.source)
    out = task.source.dim_out
    try:
        with torch.no_grad():
            scores = trial.model(toy)
    except Exception as error:  # a layer of the user's: whatever it raises is told before the sweep
        problem = f"fails on a graph of {toy.x.size(0)} nodes: {error!r}"
        raise ConfigError("model.layer", problem, value=spec.model.layer.label) from error
    if scores.shape != (toy.x.size(0), out):
        problem = f"gives scores of shape {list(scores.shape)}, not {[toy.x.size(0), out]}"
        raise ConfigError("model.layer", problem, value=spec.model.layer.label)
    zeros = scores.new_zeros(task.source.y.size(0), out)
    for split in SPLITS:
        for judge in (trial.loss, *(metric.update for metric in trial.metrics.values())):
            judge(zeros, task.source.y, getattr(task.split, split))
    return Facts(count_params(trial.model), repr(trial.model), task.split.text)


def toy_graph(source: Source) -> Graph:
    """A ring of four nodes with features, and edge data where the source has it."""
    x = torch.linspace(-1, 1, 4).unsqueeze(1).expand(4, source.dim_in).to(source.graph.x)
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]], device=x.device)
    links = source.graph.links
    attr = None if links.attr is None else x.new_ones(4, *links.attr.shape[1:])
    return Graph.of(x, ring, attr, None if links.weight is None else x.new_ones(4))


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
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(before)
        root.removeHandler(handler)
        handler.close()
