"""What a warm rank does when asked: look at a design, or run a trial of it."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import lru_cache, singledispatchmethod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gymspace.encodings.cache import prepare
from gymspace.errors import ConfigError, place
from gymspace.graph.graph import Graph
from gymspace.graph.task import Source, Task, load_source, source_spec, split_task
from gymspace.models.budget import count_params
from gymspace.records import LOG, Facts, Inspect, Run
from gymspace.schema import Component
from gymspace.spec import TrialSpec
from gymspace.training.batches import SPLITS
from gymspace.training.encoded import encoded, with_tensors
from gymspace.training.group import Group
from gymspace.training.guard import process_kept, source_kept
from gymspace.training.trial import assemble, run_trial

log = logging.getLogger(__name__)
ENCODINGS = "gymspace.encodings"


class Worker:
    """One rank's handler; it keeps the last graphs it loaded for the trials to come."""

    def __init__(self, rank: int, ranks: int):
        self.group = Group(rank, ranks)
        self.source = lru_cache(maxsize=2)(load_source)
        self.encoded = lru_cache(maxsize=2)(self._encoded)

    def __call__(self, request: Inspect | Run, report: Callable[[Any], None]) -> Any:
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
    def _(self, request: Run, report: Callable[[Any], None]) -> dict[str, Any]:
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
    trial = assemble(spec, task, Group())
    trial.model.eval()
    toy = toy_graph(task.source, spec.encodings)
    out = task.source.dim_out
    try:
        with torch.no_grad():
            scores = trial.model(toy)
    except ConfigError:
        raise
    except Exception as error:  # a layer of the user's: whatever it raises is told before the sweep
        problem = f"fails on a graph of {toy.x.size(0)} nodes: {error!r}, {place(error)}"
        raise ConfigError("model.layer", problem, value=spec.model.layer.label) from error
    if scores.shape != (toy.x.size(0), out):
        problem = f"gives scores of shape {list(scores.shape)}, not {[toy.x.size(0), out]}"
        raise ConfigError("model.layer", problem, value=spec.model.layer.label)
    zeros = scores.new_zeros(task.source.y.size(0), out)
    for split in SPLITS:
        for judge in (trial.loss, *(metric.update for metric in trial.metrics.values())):
            judge(zeros, task.source.y, getattr(task.split, split))
    warnings = tuple(ineffective(spec, trial.model))
    return Facts(count_params(trial.model), repr(trial.model), task.split.text, warnings)


def ineffective(spec: TrialSpec, model: nn.Module) -> Iterator[str]:
    """What in the design of ``spec`` has no effect, one line each."""
    inputs, encoder = getattr(model, "inputs", None), spec.model.edge_encoder
    if inputs is not None and inputs.idle and encoder is not None:
        layer = f"model.layer={spec.model.layer.label}"
        yield f"model.edge_encoder={encoder.label} changes nothing: {layer} uses no edge features"


def toy_graph(source: Source, encodings: Sequence[Component] = ()) -> Graph:
    """A ring of four nodes: features and edge data like the source's, and encodings of its own."""
    (store,), links = source.graph.nodes.values(), source.graph.links
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]], device=links.index.device)
    x = _four(source.data.x).to(ring.device, store.features.dtype)
    attr = None if links.attr is None else _four(links.attr)
    graph = Graph.of(x, ring, attr, None if links.weight is None else x.new_ones(4))
    return with_tensors(graph, prepare(encodings, ring, len(x)))


def _four(rows: Tensor) -> Tensor:
    """Four of the rows, from the first on; rows of zeros if there are none."""
    return rows[torch.arange(4) % len(rows)] if len(rows) else rows.new_zeros(4, *rows.shape[1:])


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
