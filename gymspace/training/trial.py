"""One trial from its spec to its result, on one rank or several."""

import random
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.task import DTYPES, Task
from gymspace.models.budget import count_params
from gymspace.models.model import build_model
from gymspace.records import GO, KINDS, Progress, Report, Run, Verdict
from gymspace.spec import TrialSpec, identity
from gymspace.training.averaging import averaged
from gymspace.training.batches import Loader
from gymspace.training.budget import sized
from gymspace.training.course import PAUSED, Course
from gymspace.training.encoded import known_of
from gymspace.training.fit import Epoch, Fit, fit
from gymspace.training.group import Group
from gymspace.training.optim import build_optimizer, build_scheduler
from gymspace.training.resume import LAST, restore
from gymspace.training.writer import Writer


def run_trial(run: Run, task: Task, group: Group, report: Report) -> dict[str, Any]:
    """Train the trial of ``run`` and return its result; rank 0 writes all files of the trial.

    The result file comes last and at once, so a trial that was cut off never looks finished; one
    that is to go on later, with a result of status ``paused``, has no such file.
    """
    spec, begun = run.spec, time.perf_counter()
    seed_everything(spec.seed)
    trial = assemble(spec, task, group)
    saved = restore(run.folder / LAST, spec, trial)
    course, begun, verdict = saved.course, begun - saved.seconds, GO
    with ExitStack() as files:
        writer = Writer(run, trial, saved, files) if group.rank == 0 else None
        epochs = fit(trial, spec.train.epochs, spec.train.eval_every, course.epochs)
        # Asked before each epoch: a trial cut off just after its last one has none to run.
        while not (over := is_over(course, spec)) and verdict.kind == "go":
            epoch = next(epochs)
            course = course.after(epoch)
            if epoch.scores:
                if writer:
                    writer.epoch(epoch.row, course, time.perf_counter() - begun)
                verdict = consult(run, epoch, group, report)
        result = {
            **identity(spec),
            **course.outcome(GO if over else verdict),
            "metric": spec.metric,
            "direction": course.direction,
            "params": count_params(trial.model),
            "seconds": time.perf_counter() - begun,
            "split": task.split.text,
            "traceback": None,
        }
        if trial.budget is not None:
            result["budget"] = asdict(trial.budget)
        if writer and result["status"] == PAUSED:
            writer.pause(course, result["seconds"])
        elif writer:
            writer.finish(result, task)
    return result


def is_over(course: Course, spec: TrialSpec) -> bool:
    """Whether no epoch is left to run: all are done, the patience is, or the loss is no number."""
    return course.epochs >= spec.train.epochs or course.stops(spec.train.early_stopping)


def consult(run: Run, epoch: Epoch, group: Group, report: Report) -> Verdict:
    """Report ``epoch`` and return what is to become of the trial, the same on all ranks.

    The reason stays with rank 0, which is the one that talks to the parent and writes the result.
    """
    score = epoch.scores[f"val_{run.spec.metric}"].value
    progress = Progress(epoch.epoch, run.spec.train.epochs, score)
    verdict: Verdict = (report(progress, True) if run.heeds else report(progress)) or GO
    (kind,) = group.add(KINDS.index(verdict.kind))  # nothing is said to the others: they add 0
    return replace(verdict, kind=KINDS[int(kind)])


def assemble(spec: TrialSpec, task: Task, group: Group) -> Fit:
    """Model, loader, loss, metrics, optimiser and schedule of ``spec``, built from their slots."""
    source = task.source
    known = known_of(task, spec)
    shape, matched = sized(spec, task, known)
    model = build_model(shape, source.dim_in, source.dim_out, known)
    model = model.to(source.y.device, DTYPES[spec.precision])
    optim, metrics = spec.optim, {m.short: registry.build("metrics", m) for m in spec.metrics}
    optimizer = build_optimizer(optim, model.parameters())
    direction = metrics[spec.metric].direction
    offered = {"batch_size": spec.train.batch_size, "seed": spec.seed}
    loader = registry.build("loader", spec.loader, task, group, **offered)
    require_batches(spec, loader)
    return Fit(
        model=model,
        loader=loader,
        loss=registry.build("loss", spec.loss, counts=class_counts(task)),
        metrics=metrics,
        metric=spec.metric,
        optimizer=optimizer,
        scheduler=build_scheduler(optim, optimizer, spec.train.epochs, direction),
        group=group,
        grad_clip=optim.grad_clip,
        budget=matched,
        accumulate=optim.accumulate,
        averaged=None if optim.ema is None else averaged(model, optim.ema),
    )


def class_counts(task: Task) -> Tensor | None:
    """Training rows of each class [C]; None where labels are no class ids."""
    y = task.source.y[task.split.train]
    if y.is_floating_point():
        return None
    return y[y >= 0].bincount(minlength=task.source.dim_out).cpu()


def require_batches(spec: TrialSpec, loader: Loader) -> None:
    """Raise `ConfigError` where a step would have to wait for more batches than an epoch has."""
    wanted = spec.optim.accumulate
    if wanted > 1 and wanted > (batches := len(loader)):
        problem = f"an epoch of loader={spec.loader.label} has {batches}: more change nothing"
        raise ConfigError("optim.accumulate", problem, value=wanted)


def seed_everything(seed: int) -> None:
    """Seed torch, numpy and random; every rank alike, so that they draw the same dropout."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
