"""A small factory of sweep folders as a sweep leaves them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gymspace.spec import design_id, parse, replace, task_id, trial_id

SPLITS = ("train", "val", "test")


class Sweep:
    """A sweep's folder that trials can be added to."""

    def __init__(self, folder: Path, **about: Any):
        self.folder = folder
        (folder / "trials").mkdir(parents=True)
        (folder / "sweep.json").write_text(json.dumps({"version": 1, **about}))

    def add(
        self,
        choices: dict[str, Any] | None = None,
        *,
        seed: int = 0,
        status: str = "done",
        val: Sequence[float] = (0.5,),
        test: Sequence[float] | None = None,
        direction: str = "max",
        base: dict[str, Any] | None = None,
        **result: Any,
    ) -> str:
        """Write a trial whose validation and test scores per epoch are given; returns its id."""
        config = base or {}
        for key, value in (choices or {}).items():
            config = replace(config, key, value)
        spec = parse({**config, "seed": seed})
        ids = {"trial": trial_id(spec), "design": design_id(spec), "task": task_id(spec)}
        folder = self.folder / "trials" / ids["trial"]
        folder.mkdir()
        test = val if test is None else test
        pick = max if direction == "max" else min
        best = list(val).index(pick(val)) if status == "done" else None
        scores = {"train": list(val), "val": list(val), "test": list(test)}
        _history(folder / "history.csv", spec.metric, scores)
        saved = {**ids, "choices": choices or {}, "spec": spec.model_dump(mode="json")}
        (folder / "spec.json").write_text(json.dumps(saved))
        row = {**ids, "seed": seed, "fold": 0, "status": status, "error": None}
        row |= {"metric": spec.metric, "direction": direction, "best_epoch": best}
        for name, values in scores.items():
            row[f"{name}_{spec.metric}"] = None if best is None else values[best]
            row[f"{name}_loss"] = None if best is None else 1 - values[best]
        row |= {"epochs": len(val), "params": 100, "seconds": 2.0, "split": "50/100/1647"}
        (folder / "result.json").write_text(json.dumps(row | result))
        return ids["trial"]


def _history(path: Path, metric: str, scores: dict[str, list[float]]) -> None:
    lines = ["epoch,lr,seconds," + ",".join(f"{s}_loss,{s}_{metric}" for s in SPLITS)]
    for epoch in range(len(scores["val"])):
        cells = ",".join(f"{1 - scores[s][epoch]},{scores[s][epoch]}" for s in SPLITS)
        lines.append(f"{epoch},0.01,0.02,{cells}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., Sweep]:
    """Make a sweep's folder; keywords go to its sweep.json."""

    def make(name: str = "study", **about: Any) -> Sweep:
        return Sweep(tmp_path / name, **about)

    return make
