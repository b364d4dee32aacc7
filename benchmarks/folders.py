"""Folders of synthetic sweeps, written as a sweep leaves them, for measurements of reading."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from gymspace.spec import parse, task_id

SPACE: Mapping[str, list[Any]] = {
    "model.layers_pre_mp": [1, 2],
    "model.layers_mp": [2, 4, 6, 8],
    "model.stage": ["stack", "skipsum", "skipconcat"],
    "model.dim_inner": [64, 128],
    "model.act": ["relu", "prelu", "swish"],
    "model.dropout": [0.0, 0.3, 0.6],
    "model.agg": ["add", "mean", "max"],
    "optim.optimizer": ["adam", "sgd"],
    "optim.lr": [0.1, 0.03, 0.01, 0.001],
    "optim.weight_decay": [0.0, 0.0005],
}
EPOCHS = 30


def write_sweep(folder: Path, trials: int, seeds: int = 5, failed: float = 0.01) -> None:
    """Write ``trials`` trials of one task: designs drawn from `SPACE`, each with ``seeds``."""
    (folder / "trials").mkdir(parents=True)
    about = {
        "version": 1,
        "name": folder.name,
        "command": f"python -m gymspace -m sweep.name={folder.name}",
        "draw": "grid",
        "base": {"dataset": "digits"},
        "space": [{"key": key, "choices": SPACE[key], "alias": None} for key in SPACE],
        "aliases": {},
        "seeds": list(range(seeds)),
        "folds": [0],
    }
    (folder / "sweep.json").write_text(json.dumps(about, indent=1))
    for name, files in _trials(trials, seeds, failed):
        path = folder / "trials" / name
        path.mkdir()
        for file, text in files.items():
            (path / file).write_text(text)


def _trials(count: int, seeds: int, failed: float) -> Iterator[tuple[str, dict[str, str]]]:
    rng = np.random.default_rng(0)
    base = parse({})
    plain, task = base.model_dump(mode="json"), task_id(base)
    sizes = [len(choices) for choices in SPACE.values()]
    drawn = rng.choice(math.prod(sizes), -(-count // seeds), replace=False)
    histories = [_history(rng.uniform(0.5, 3)) for _ in range(50)]
    for n in range(count):
        codes = np.unravel_index(drawn[n // seeds], sizes)
        choices = {key: SPACE[key][at] for key, at in zip(SPACE, codes, strict=True)}
        spec = deepcopy(plain) | {"seed": n % seeds}
        for key, value in choices.items():
            room, _, name = key.partition(".")
            spec[room][name] = value
        design = hashlib.sha1(json.dumps(choices).encode()).hexdigest()[:12]
        trial = hashlib.sha1(f"{design} {n % seeds}".encode()).hexdigest()[:12]
        ids = {"trial": trial, "design": design, "task": task}
        score = _score(choices) + rng.normal(0, 0.01)
        result = _result(score, choices, float(rng.uniform(1, 9)), bool(rng.random() < failed))
        yield (
            trial,
            {
                "spec.json": json.dumps({**ids, "choices": choices, "code": {}, "spec": spec}),
                "result.json": json.dumps({**ids, "seed": n % seeds, "fold": 0, **result}),
                "history.csv": histories[n % len(histories)],
            },
        )


def _score(choices: Mapping[str, Any]) -> float:
    score = 0.8 + 0.01 * choices["model.layers_mp"] - 0.1 * choices["model.dropout"]
    score += 0.02 * (choices["model.act"] == "prelu") * (choices["model.agg"] == "add")
    return score + 0.01 * math.log10(choices["optim.lr"]) * (choices["optim.optimizer"] == "adam")


def _result(
    score: float, choices: Mapping[str, Any], seconds: float, failed: bool
) -> dict[str, Any]:
    shared = {"ranks": 1, "metric": "accuracy", "direction": "max", "traceback": None}
    shared |= {"split": "per_class: 50/100/1647", "epochs": EPOCHS, "seconds": seconds}
    if failed:
        return {**shared, "status": "failed", "error": "RuntimeError: ran out of memory"}
    scores = {f"{split}_accuracy": score - 0.01 * (split == "test") for split in _SPLITS}
    losses = {f"{split}_loss": 1.5 - score for split in _SPLITS}
    params = 1000 * choices["model.layers_mp"] * choices["model.dim_inner"]
    rest = {"status": "done", "error": None, "best_epoch": EPOCHS - 1, "params": params}
    return {**shared, **rest, **scores, **losses}


_SPLITS = ("train", "val", "test")


def _history(rate: float) -> str:
    lines = ["epoch,lr,seconds," + ",".join(f"{s}_loss,{s}_accuracy" for s in _SPLITS)]
    for epoch in range(EPOCHS):
        score = 0.9 * (1 - math.exp(-rate * (epoch + 1) / 10))
        lines.append(f"{epoch},0.01,0.02," + ",".join(f"{1.5 - score},{score}" for _ in _SPLITS))
    return "\n".join(lines) + "\n"
