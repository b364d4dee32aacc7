"""A dry run: what a sweep would run and where, and how long it may take by one timed trial."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console

from gymspace.dist.jobs import Done, Failed, Finished, Job, Outcome, Started
from gymspace.dist.jobs import Progress as Report
from gymspace.errors import ConfigError
from gymspace.records import Progress, Run
from gymspace.sweep.check import facts_of, inspect_job
from gymspace.sweep.display import label
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.loop import Launch, Launcher
from gymspace.sweep.plan import Trial
from gymspace.sweep.spaces.space import Space

EPOCHS = 10  # of the timed trial, or three evaluations if those are more
_SHOWN = 5


@dataclass(frozen=True)
class Preview:
    """What would run: ``trials``, which are all of them or the first few of ``designs``.

    ``slots`` says how many trials of so many ranks run at once.
    """

    trials: Sequence[Trial]
    space: Space
    path: Path
    slots: Callable[[int], int]
    designs: int | None = None


def dry_run(preview: Preview, launch: Launch, console: Console) -> None:
    """Say what would run, time one trial in a temporary folder, and say how long all may take.

    The sweep's own folder is read, and left as it is.

    Raises:
        ConfigError: the timed trial cannot be built, or fails.
    """

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    for line in _lines(preview):
        say(line)
    folder = SweepFolder(preview.path)
    left = [trial for trial in preview.trials if folder.result(trial) is None]
    if preview.designs is None and len(left) < len(preview.trials):
        say(f"{len(preview.trials) - len(left)} of the trials are finished there")
    if left:
        say(_estimated(preview, left, launch))


def _lines(preview: Preview) -> Iterator[str]:
    firsts = list({trial.design: trial for trial in reversed(preview.trials)}.values())[::-1]
    designs = len(firsts) if preview.designs is None else preview.designs
    trials = designs * len(preview.trials) // len(firsts)
    size = preview.space.size
    of = f" of {size}" if size is not None and size > designs else ""
    counted = f"{designs}{of} design{'s' * (f'{designs}{of}' != '1')}"
    yield f"{counted}, {_count(trials, 'trial')}; the first designs:"
    for trial in firsts[:_SHOWN]:
        choices = ", ".join(f"{key}={value}" for key, value in trial.choices.items())
        yield f"  {choices or 'the base design'}"
    if len(preview.space.parts) > 1 and preview.designs is None:
        yield from _shares(preview.space, firsts)
    for constraint in preview.space.constraints:
        if constraint.needs_params:
            yield f"less those that break {constraint.text}, which shows when each is built"
    yield f"they would go to {preview.path}"


def _shares(space: Space, designs: Sequence[Trial]) -> Iterator[str]:
    """How many designs come from each sub-space; one that is in several belongs to the first."""
    parts = Counter(space.part_of(trial.choices) for trial in designs)
    for number, part in enumerate(space.parts):
        share = f"{parts[number]} ({parts[number] / len(designs):.0%})"
        varied = ", ".join(d.key for d in part.dimensions) or "the base design"
        yield f"  sub-space {number + 1}, {varied}: {share}"


def _estimated(preview: Preview, left: Sequence[Trial], launch: Launch) -> str:
    trial = left[len(left) // 2]
    slots = preview.slots(trial.spec.dist.ranks)
    with launch(trial.spec.dist.ranks, trial.spec.device) as launcher:
        timing = timed(trial, launcher)
    repeat = len(preview.trials) / max(1, len({t.design for t in preview.trials}))
    count = len(left) if preview.designs is None else round(preview.designs * repeat)
    seconds = sum(map(timing.seconds, left)) / len(left) * count / min(slots, count)
    return (
        f"about {clock(seconds)} for {_count(count, 'trial')}, {min(slots, count)} at once: an "
        f"estimate from {_count(timing.epochs, 'epoch')} of one trial, {label(trial)}, "
        f"at {timing.epoch:.3g} s per epoch and {timing.rest:.3g} s besides"
    )


@dataclass(frozen=True)
class Timing:
    """Seconds that a trial took per epoch, and besides; ``epochs`` is how many it was timed for."""

    epochs: int
    epoch: float
    rest: float

    def seconds(self, trial: Trial) -> float:
        """How long ``trial`` takes with all of its epochs, if it takes as long for each."""
        return self.rest + self.epoch * trial.spec.train.epochs


def timed(trial: Trial, launcher: Launcher) -> Timing:
    """Time the first epochs of ``trial``, whose data are loaded and whose design is built before.

    Raises:
        ConfigError: it cannot be built, or fails.
    """
    facts_of(_measured(inspect_job(trial), launcher)[0])
    train = trial.spec.train
    epochs = min(train.epochs, max(EPOCHS, 3 * train.eval_every))
    spec = trial.spec.model_copy(
        update={"train": train.model_copy(update={"epochs": epochs, "checkpoint": False})}
    )
    with TemporaryDirectory(prefix="gymspace-") as folder:
        job = Job(trial.id, Run(spec, Path(folder), trial.choices), spec.trial.timeout)
        outcome, seconds, marks = _measured(job, launcher)
    _require_done(outcome)
    pace = [(b - a) / (later - sooner) for (sooner, a), (later, b) in pairwise(marks)]
    epoch = median(pace) if pace else seconds / epochs
    return Timing(epochs, epoch, max(0.0, seconds - epochs * epoch))


def _measured(job: Job, launcher: Launcher) -> tuple[Outcome, float, list[tuple[int, float]]]:
    """What became of a job, how long it took, and when it reported which epoch."""
    begun, marks = time.perf_counter(), []
    for event in launcher.run(iter([job])):
        now = time.perf_counter()
        if isinstance(event, Started):
            begun = now
        elif isinstance(event, Report) and isinstance(event.value, Progress):
            marks.append((event.value.epoch, now))
        elif isinstance(event, Finished):
            return event.outcome, now - begun, marks
    raise RuntimeError(f"job {job.id} was not run")


def _require_done(outcome: Outcome) -> None:
    if isinstance(outcome, Failed):
        problem = outcome.error
    elif isinstance(outcome, Done):
        if outcome.value["status"] == "done":
            return
        problem = f"{outcome.value['status']}: {outcome.value['error']}"
    else:
        problem = f"it took more than trial.timeout={outcome.seconds:g} s"
    raise ConfigError("sweep.dry", f"the timed trial did not end well: {problem}", value="true")


def clock(seconds: float) -> str:
    """A duration as hours:minutes:seconds; shorter than a minute, in seconds."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}"
