"""Checkpoints: whole or absent, plain data only, and a continuation that is bitwise the same."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from gymspace.spec import OptimSpec
from gymspace.training import checkpoint
from gymspace.training.checkpoint import CheckpointError, load, rng_state, save, set_rng_state
from gymspace.training.optim import build_optimizer, build_scheduler


def draws():
    return [random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(3)]


def test_the_random_state_survives_the_file(tmp_path):
    draws()  # an odd number of normal draws: a half-used pair is state too
    save(tmp_path / "last.pt", {"rng": rng_state()})
    first = draws()
    draws()
    set_rng_state(load(tmp_path / "last.pt")["rng"])
    again = draws()
    assert first[:4] == again[:4]
    assert torch.equal(first[4], again[4])


SCHEDULES = ["cosine", "step", "none", "torch.optim.lr_scheduler:StepLR"]


class Trial:
    """A small model with dropout, trained on the whole of what a checkpoint must keep."""

    def __init__(self, optimizer, scheduler):
        spec = OptimSpec.model_validate({"optimizer": optimizer, "scheduler": scheduler})
        self.model = nn.Sequential(
            nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1)
        )
        self.optimizer = build_optimizer(spec, self.model.parameters())
        self.scheduler = build_scheduler(spec, self.optimizer, 10, "max")
        self.parts = self.model, self.optimizer, self.scheduler

    def run(self, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            self.model(torch.randn(6, 3)).square().mean().backward()
            self.optimizer.step()
            self.scheduler.step()
        return list(self.model.state_dict().values())


@pytest.mark.parametrize("scheduler", SCHEDULES)
@pytest.mark.parametrize("optimizer", ["adam", "sgd", "adamw", "rmsprop", "adagrad"])
def test_five_epochs_and_five_more_are_ten(tmp_path, optimizer, scheduler):
    """Field case G9: rate, random state, optimiser and running statistics go on bitwise."""
    scheduler = {"name": scheduler, **({"step_size": 3} if ":" in scheduler else {})}
    torch.manual_seed(0)
    whole = Trial(optimizer, scheduler)
    save(tmp_path / "start.pt", {"model": whole.model.state_dict(), "rng": rng_state()})
    expected = whole.run(10)

    half = Trial(optimizer, scheduler)
    state = load(tmp_path / "start.pt")
    half.model.load_state_dict(state["model"])
    set_rng_state(state["rng"])
    half.run(5)
    kept = {str(i): part.state_dict() for i, part in enumerate(half.parts)}
    save(tmp_path / "last.pt", {**kept, "rng": rng_state()})

    rest, state = Trial(optimizer, scheduler), load(tmp_path / "last.pt")
    for i, part in enumerate(rest.parts):
        part.load_state_dict(state[str(i)])
    set_rng_state(state["rng"])
    assert all(torch.equal(a, b) for a, b in zip(rest.run(5), expected, strict=True))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_cut_short_is_a_checkpoint_error(tmp_path, share):
    path = tmp_path / "last.pt"
    save(path, {"x": torch.rand(1000)})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(CheckpointError, match=r"cannot read checkpoint .*last\.pt: \S"):
        load(path)


@pytest.mark.parametrize("content", [{"f": random.Random(0)}, torch.zeros(2), [1]])
def test_what_is_not_plain_data_of_a_checkpoint_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "last.pt")
    with pytest.raises(CheckpointError):
        load(tmp_path / "last.pt")


def test_a_file_that_is_not_there_is_no_checkpoint_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "last.pt")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "last.pt"
    save(path, {"epoch": 1})

    def dies(state, file):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint.torch, "save", dies)
    with pytest.raises(OSError, match="disk full"):
        save(path, {"epoch": 2})
    assert load(path) == {"epoch": 1}
    assert list(tmp_path.iterdir()) == [path]
