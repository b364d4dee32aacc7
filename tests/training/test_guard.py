"""What one trial leaves behind never reaches the next one of the same warm rank."""

from pathlib import Path

import pytest
import torch

from gymspace.records import LOG, Run
from gymspace.spec import parse
from gymspace.training.worker import Worker


def run(worker, folder, layer):
    folder.mkdir()
    config = {"model": {"layer": layer, "layers_pre_mp": 0}, "train": {"epochs": 3}}
    return worker(Run(parse(config), folder, {}), lambda progress: None)


@pytest.fixture
def undisturbed(tmp_path):
    return run(Worker(0, 1), tmp_path / "alone", "gcn")["test_loss"]


@pytest.mark.parametrize(
    ("layer", "what"),
    [
        ("InPlace", "dataset's x in place"),
        ("Doubling", "default dtype"),
        ("Leaving", "directory"),
        ("Frozen", "does not require grad"),
    ],
)
def test_a_trial_that_leaves_something_behind_fails_alone(layer, what, tmp_path, undisturbed):
    worker, here = Worker(0, 1), Path.cwd()
    with pytest.raises(RuntimeError, match=what):
        run(worker, tmp_path / "bad", f"tests.training.faults:{layer}")
    assert (Path.cwd(), torch.get_default_dtype()) == (here, torch.float32)
    assert torch.is_grad_enabled()
    assert run(worker, tmp_path / "next", "gcn")["test_loss"] == undisturbed


def test_what_a_layer_prints_is_in_the_log_of_its_trial(tmp_path):
    run(Worker(0, 1), tmp_path / "t", "tests.training.faults:Talking")
    assert "so I was called" in (tmp_path / "t" / LOG).read_text()
