"""Folders of sweeps for reports."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.results.conftest import Sweep
from tests.results.conftest import sweep as sweep


def grid_folder(folder: Path, datasets=("digits",), seeds=(0, 1, 2)) -> Sweep:
    """Stages x depths x seeds with histories on each dataset; a trial failed, one is unfinished."""
    rng = np.random.default_rng(0)
    made = Sweep(
        folder,
        name=folder.name,
        command="python -m gymspace -m +experiment=grid",
        draw="grid",
        seeds=list(seeds),
        aliases={"model.layers_mp": "l_mp"},
        space=[
            {"key": "model.stage", "choices": ["stack", "skipsum", "skipconcat"], "alias": None},
            {"key": "model.layers_mp", "choices": [2, 4, 6], "alias": "l_mp"},
        ],
        base={"dataset": datasets[0], "train.epochs": 20},
    )
    worth = {"stack": 0.03, "skipsum": 0.02, "skipconcat": 0.0}
    for dataset, stage, depth, seed in product(datasets, worth, (2, 4, 6), seeds):
        top = 0.6 + worth[stage] + 0.02 * depth + float(rng.normal(0, 0.003))
        val = [top * (1 - 0.5 ** (epoch + 1)) for epoch in range(12)]
        choices = {"model.stage": stage, "model.layers_mp": depth}
        if len(datasets) > 1:
            choices["dataset"] = dataset
        made.add(choices, seed=seed, val=val, params=1000 * depth + len(stage))
    made.add(
        {"model.stage": "stack", "model.layers_mp": 2},
        seed=7,
        status="failed",
        error="ValueError: </script><script>alert(1)</script> loss is NaN",
    )
    (made.folder / "trials" / "unfinished").mkdir()
    return made


@pytest.fixture(scope="session")
def grid(tmp_path_factory) -> Path:
    """A sweep of nine designs, read only."""
    return grid_folder(tmp_path_factory.mktemp("results") / "grid").folder
