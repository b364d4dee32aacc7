"""The committed leaderboard of the example grid on digits: the same designs, the same scores."""

from itertools import product
from pathlib import Path

import pytest
import torch

from gymspace.models.model import build_model
from gymspace.records import Run
from gymspace.results.frames import read_table
from gymspace.spec import design_id, parse
from gymspace.training.worker import Worker

TABLE = Path(__file__).parents[1] / "results" / "reference" / "node_grid" / "leaderboard.csv"
KEYS = ["layers_pre_mp", "layers_mp", "layers_post_mp", "stage"]
GRID = [(1, 2), (2, 4, 6), (1, 2), ("stack", "skipsum", "skipconcat")]


@pytest.fixture(scope="module")
def reference():
    return read_table(TABLE).set_index("design")


def spec(cell, seed=0):
    return parse({"model": dict(zip(KEYS, cell, strict=True)), "seed": seed})


def test_it_ranks_the_36_designs_over_three_seeds_each(reference):
    assert set(reference.index) == {design_id(spec(cell)) for cell in product(*GRID)}
    assert list(reference["rank"]) == list(range(1, 37))
    assert reference["val_accuracy_mean"].is_monotonic_decreasing
    assert (reference["n_seeds"] == 3).all()


@pytest.mark.parametrize("cell", list(product(*GRID)), ids=str)
def test_its_parameter_counts_are_those_of_the_models(reference, cell):
    row = reference.loc[design_id(spec(cell))]
    assert [row[f"model.{key}"] for key in KEYS] == list(cell)
    model = build_model(spec(cell).model, dim_in=64, dim_out=10)
    assert row["params"] == sum(p.numel() for p in model.parameters())


def test_a_design_run_again_scores_the_same(reference, tmp_path):
    """Bit for bit on one machine; on another processor sums may round apart."""
    torch.set_num_threads(1)
    cell, scores = (1, 2, 1, "stack"), []
    worker = Worker(0, 1)
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        result = worker(Run(spec(cell, seed), folder, {}), lambda progress: None)
        scores.append(result["test_accuracy"])
    again = sum(scores) / len(scores)
    assert again == pytest.approx(
        reference.loc[design_id(spec(cell))]["test_accuracy_mean"], abs=0.01
    )
