"""What designs cost before they train: building them, matching their budgets, their encodings.

Designs are drawn from the experiment `design_space`, on the widths of Cora and Amazon Computers,
whose raw files lie below ``--root``. Times are shares of what we allow ourselves; those of building
and matching are the processor's, for one thread, whoever else it works for.
"""

import argparse
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from plain import ROOT

from gymspace.__main__ import config_dir
from gymspace.errors import ConfigError
from gymspace.graph.task import Task, load_source, split_task
from gymspace.models.budget import count_design, match_width
from gymspace.models.model import build_model
from gymspace.records import Inspect
from gymspace.spec import parse
from gymspace.sweep.draws.draw import Random
from gymspace.sweep.plan import assemble
from gymspace.sweep.spaces.space import Assignment, parse_space
from gymspace.training.budget import sized
from gymspace.training.encoded import known_of
from gymspace.training.worker import Worker

DATASETS = ("cora", "amazon_computers")
BASELINES = ({"model.layers_mp": 4}, {"model.dim_inner": 256})
ENCODINGS = (["lap"], ["rwse"], ["lap", "rwse"])
BUILD, MATCH, WITHIN = 0.020, 5.0, 0.02


def drawn(n: int) -> list[Assignment]:
    """``n`` designs of the whole space."""
    file = config_dir() / "experiment" / "design_space.yaml"
    draw = Random(parse_space(yaml.safe_load(file.read_text())["sweep"]["space"]), n=n)
    return list(iter(draw.ask, None))


def build_times(designs: Sequence[Assignment], base: dict[str, Any], task: Task) -> list[float]:
    """Seconds from the choices of each design to its model, parsing included."""
    source, known, taken = task.source, known_of(task, parse(base)), []
    for choices in designs:
        begun = time.process_time()
        spec = parse(assemble(choices, base, {}, dict))
        build_model(spec.model, source.dim_in, source.dim_out, known)
        taken.append(time.process_time() - begun)
    return taken


def match(
    designs: Sequence[Assignment], base: dict[str, Any], task: Task
) -> tuple[int, list[float], float]:
    """The target, how far from it each design is, and the seconds that finding out took."""
    for kept in (match_width, count_design):
        kept.cache_clear()
    specs = [parse(assemble(choices, base, {}, dict)) for choices in designs]
    begun = time.process_time()
    found = [sized(spec, task, known_of(task, spec))[1] for spec in specs]
    taken = time.process_time() - begun
    matched = [one for one in found if one is not None]
    return matched[0].target, [abs(one.error) for one in matched], taken


def start(base: dict[str, Any], nodes: int) -> tuple[float, int]:
    """Seconds that the start of a sweep takes, and how often it computes on ``nodes`` nodes."""
    with counting() as computed:
        worker, begun = Worker(0, 1), time.perf_counter()
        for encodings in ENCODINGS:
            worker(Inspect(parse({**base, "encodings": encodings})), lambda line: None)
        taken = time.perf_counter() - begun
    # Every design is tried on a toy graph as well.
    return taken, sum(f" of {nodes} nodes" in line for line in computed)


@contextmanager
def counting() -> Iterator[list[str]]:
    """The lines that computing encodings logs meanwhile."""
    lines: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger("gymspace.encodings.cache")
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def measure(dataset: str, root: Path, cache: Path) -> Iterator[str]:
    """The figures of one dataset, a line each."""
    base = {"dataset": dataset, "data": {"root": str(root), "cache": str(cache)}}
    task = split_task(parse(base), load_source(parse(base)))
    build_times(drawn(10), base, task)
    shares = [s / BUILD for s in build_times(drawn(300), base, task)]
    middle, late, last = np.percentile(shares, [50, 99, 100])
    allowed = f"of {BUILD * 1000:.0f} ms"
    yield f"building one of 300 designs: {middle:.2f} {allowed}, 99th {late:.2f}, last {last:.2f}"
    for baseline in BASELINES:
        budget = {"match": baseline, "tolerance": 0.5}
        target, errors, taken = match(drawn(96), {**base, "budget": budget}, task)
        inside = f"{sum(error <= WITHIN for error in errors)} of {len(errors)}"
        ((key, value),) = baseline.items()
        yield (
            f"budget of {key}={value} ({target} parameters): {inside} designs within {WITHIN:.0%},"
            f" the worst {max(errors):.2%} off; {taken / MATCH:.2f} of {MATCH:.0f} s"
        )
    (first, computed), (second, again) = (start(base, task.source.y.size(0)) for _ in range(2))
    yield (
        f"encodings: {computed} computed at the first start of a sweep, {again} at the second,"
        f" in {second / first:.2f} of the time"
    )


def main() -> None:
    """Print the figures of every dataset that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="data.root with the raw files")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as cache:
        for dataset in DATASETS:
            print(dataset)
            try:
                for line in measure(dataset, args.root, Path(cache)):
                    print(f"  {line}", flush=True)
            except ConfigError as error:
                print(f"  skipped: {error}")


if __name__ == "__main__":
    main()
