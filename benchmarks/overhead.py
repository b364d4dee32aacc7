"""What a warm trial costs besides its epochs, as a share of what we allow ourselves.

A trial of one small epoch, from handing it over to hearing its result, is counted in full: the
overhead and that epoch. What its events cost is measured apart. Median (quartiles).
"""

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from interleave import seconds, spread

from gymspace.dist.jobs import Done, Finished, Job
from gymspace.dist.slots import Slots
from gymspace.records import Run
from gymspace.spec import parse
from gymspace.training.events import Events

ALLOWED = {1: 0.050, 2: 0.100}
EVENTS = 0.100


def trial(slots: Slots, folder: Path, ranks: int) -> Callable[[], None]:
    """A turn: one epoch of a narrow design on digits, without events."""
    config = {
        "train": {"epochs": 1},
        "log": {"tensorboard": False},
        "dist": {"ranks": ranks},
        "model": {"dim_inner": 8},
    }
    spec, numbers = parse(config), count()

    def turn() -> None:
        run = Run(spec, folder / f"{ranks}-{next(numbers)}", {})
        run.folder.mkdir()
        (end,) = [event for event in slots.run([Job("", run)]) if isinstance(event, Finished)]
        if not isinstance(end.outcome, Done):
            raise RuntimeError(f"the trial did not end well: {end.outcome}")

    return turn


def events(folder: Path, epochs: int = 200) -> Callable[[], None]:
    """A turn: writing the events of a trial of ``epochs`` epochs with one metric."""
    names = [
        f"{split}_{name}" for split in ("train", "val", "test") for name in ("loss", "accuracy")
    ]
    scores, numbers = dict.fromkeys(names, 0.5), count()
    about = {"trial": "t", "status": "done", "metric": "accuracy", "seed": 0, "best_epoch": 0}
    result = {**about, **scores}

    def turn() -> None:
        below = folder / f"events-{next(numbers)}"
        below.mkdir()
        with Events(below) as writer:
            for epoch in range(epochs):
                writer.epoch({"epoch": epoch, "lr": 0.01, "seconds": 0.01, **scores})
            writer.finish({"model.layers_mp": 2}, result)

    return turn


def main() -> None:
    """Print the overhead of one and two ranks, and of events, over what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        peers = {"events": events(folder)}
        for ranks in ALLOWED:
            slots = stack.enter_context(Slots("gymspace.training.worker:Worker", 1, ranks))
            peers[f"{ranks} rank(s)"] = trial(slots, folder, ranks)
        taken = seconds(peers, args.rounds, warm=3)
    allowed = {"events": EVENTS, **{f"{ranks} rank(s)": limit for ranks, limit in ALLOWED.items()}}
    for name, limit in allowed.items():
        what = "events of 200 epochs" if name == "events" else f"a warm trial of one epoch, {name}"
        print(f"{what}: {spread([s / limit for s in taken[name]])} of {limit * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
