"""Folders as sweeps leave them, and the command line called in this process."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from gymspace.results.__main__ import main
from tests.results.conftest import Sweep
from tests.results.conftest import sweep as sweep


@dataclass(frozen=True)
class Said:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, str]]:
        """Standard output as CSV."""
        return list(csv.DictReader(io.StringIO(self.out)))

    @property
    def json(self):
        """Standard output as JSON."""
        return json.loads(self.out)


@pytest.fixture
def ask(capsys, monkeypatch) -> Callable[..., Said]:
    """Call the command line on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Said(code, *capsys.readouterr())

    return call


@pytest.fixture
def grid(tmp_path) -> Path:
    """2 tasks x 3 stages x 3 depths x 2 seeds: stack is best, then depth; three trials went ill."""
    made = Sweep(tmp_path / "grid", seeds=[0, 1], folds=[0], aliases={"model.layers_mp": "l_mp"})
    worth = {"stack": 0.03, "skipsum": 0.02, "skipconcat": 0.0}
    cells = product(("cora", "digits"), worth, (2, 4, 6), (0, 1))
    for at, (dataset, stage, depth, seed) in enumerate(cells):
        choices = {"dataset": dataset, "model.stage": stage, "model.layers_mp": depth}
        score = 0.6 + worth[stage] + 0.02 * depth + 0.001 * ((7 * at) % 5)
        how = {"params": 1000 * depth}
        if (dataset, depth, stage) == ("digits", 6, "skipsum"):
            how |= {"status": "failed", "error": "ValueError: 100% of 5_000 nodes"}
        if (dataset, depth, stage, seed) == ("cora", 6, "skipsum", 1):
            how |= {"status": "diverged", "error": "loss is nan"}
        made.add(choices, seed=seed, val=[score / 2, score], **how)
    return made.folder
