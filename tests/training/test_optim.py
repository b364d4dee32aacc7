"""Optimisers and schedules by name and by `module:attr`, and what they refuse."""

import math

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

from gymspace import tables
from gymspace.errors import ConfigError
from gymspace.spec import OptimSpec
from gymspace.training.optim import build_optimizer, build_scheduler

LION = "tests.training.tasks:Lion"


def optimizer(**fields):
    model = nn.Linear(2, 1)
    return build_optimizer(OptimSpec.model_validate(fields), model.parameters()), model


def rates(epochs, **scheduler):
    """The learning rate of each epoch, from a rate of 1."""
    spec = OptimSpec.model_validate({"lr": 1.0, "scheduler": scheduler})
    opt = build_optimizer(spec, nn.Linear(2, 1).parameters())
    schedule = build_scheduler(spec, opt, epochs, "max")
    seen = []
    for _ in range(epochs):
        seen.append(opt.param_groups[0]["lr"])
        opt.step()
        schedule.step()
    return seen


@pytest.mark.parametrize("name", [*tables.OPTIMIZERS, "torch.optim:NAdam", LION])
def test_every_optimizer_takes_the_rates_and_lowers_a_loss(name):
    opt, model = optimizer(optimizer=name, lr=0.02, weight_decay=1e-3)
    assert {g: opt.param_groups[0][g] for g in ("lr", "weight_decay")} == {
        "lr": 0.02,
        "weight_decay": 1e-3,
    }
    losses = []
    for _ in range(5):
        loss = (model(torch.ones(1, 2)) - 3).square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(float(loss.detach()))
    assert losses == sorted(losses, reverse=True)


def test_a_components_own_arguments_win_over_the_presets_of_its_name():
    assert optimizer(optimizer="sgd")[0].defaults["momentum"] == 0.9
    assert optimizer(optimizer={"name": "sgd", "momentum": 0.5})[0].defaults["momentum"] == 0.5
    assert optimizer(optimizer={"name": "adam", "betas": [0.8, 0.9]})[0].defaults["betas"] == (
        0.8,
        0.9,
    )


def test_cosine_falls_from_the_full_rate_over_all_epochs():
    expected = [(1 + math.cos(math.pi * e / 10)) / 2 for e in range(10)]
    assert rates(10, name="cosine") == pytest.approx(expected)


def test_step_multiplies_after_each_milestone():
    got = rates(6, name="step", milestones=[2, 4], gamma=0.5)
    assert got == pytest.approx([1, 1, 0.5, 0.5, 0.25, 0.25])
    assert rates(3, name="step", milestones=1) == pytest.approx([1, 0.1, 0.1])


def test_none_keeps_the_rate():
    assert rates(4, name="none") == [1, 1, 1, 1]


def test_a_schedule_of_torchs_own_is_reached_by_module_and_attribute():
    got = rates(4, name="torch.optim.lr_scheduler:ExponentialLR", gamma=0.5)
    assert got == pytest.approx([1, 0.5, 0.25, 0.125])


def test_an_optimizer_of_the_user_s_steps_with_its_own_arguments():
    opt, model = optimizer(optimizer={"name": LION, "betas": [0.5, 0.9]}, lr=0.1, weight_decay=0.2)
    weight = model.weight.detach().clone()
    model(torch.ones(1, 2)).sum().backward()
    opt.step()
    assert opt.param_groups[0]["betas"] == (0.5, 0.9)
    assert torch.allclose(model.weight, weight * (1 - 0.1 * 0.2) - 0.1)


NORMED = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.PReLU(), nn.Linear(3, 1))


def test_norms_biases_and_slopes_decay_unless_told_otherwise():
    parameters = list(NORMED.parameters())
    (group,) = build_optimizer(OptimSpec(), parameters).param_groups
    assert group["weight_decay"] == 5e-4
    spec = OptimSpec(decay_norms=False)
    decayed, spared = build_optimizer(spec, parameters).param_groups
    assert [group["weight_decay"] for group in (decayed, spared)] == [5e-4, 0]
    assert list(map(id, decayed["params"])) == [id(NORMED[0].weight), id(NORMED[3].weight)]
    assert {id(p) for p in spared["params"]} == {id(p) for p in parameters if p.dim() == 1}
    assert decayed["lr"] == spared["lr"] == spec.lr


@pytest.mark.parametrize("name", [*tables.OPTIMIZERS, LION])
def test_without_a_gradient_only_what_decays_moves(name):
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3))
    spec = OptimSpec.model_validate({"optimizer": name, "decay_norms": False, "weight_decay": 0.1})
    opt = build_optimizer(spec, model.parameters())
    before = [p.detach().clone() for p in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    opt.step()
    same = [torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True)]
    assert same == [False, True, True, True]


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_a_group_without_parameters_is_left_out(decay):
    spec = OptimSpec(decay_norms=False, weight_decay=decay)
    for parameters in (nn.Linear(2, 1, bias=False).parameters(), nn.PReLU().parameters()):
        assert len(build_optimizer(spec, parameters).param_groups) == 1


class Two(ExponentialLR):
    """A schedule that wants more than there is."""

    def __init__(self, optimizer):
        super().__init__(optimizer, 0.5)

    def step(self, a=None, *, b):
        super().step()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"optimizer": "admm"}, "optim.optimizer=admm: unknown name.*did you mean adam"),
        ({"optimizer": {"name": "adam", "beta": 1}}, "optim.optimizer.beta=1: 'adam' takes no"),
        ({"optimizer": {"name": "adam", "lr": 1.0}}, "optim.optimizer.lr=1.0: .*set optim.lr"),
        ({"optimizer": {"name": "sgd", "momentum": -1}}, "optim.optimizer=sgd.momentum=-1.: .*-1"),
        ({"optimizer": {"name": "adam", "betas": 3}}, "optim.optimizer=adam.betas=3.: cannot"),
        ({"optimizer": "torch.optim:Rprop"}, "optim.weight_decay=0.0005: .* must be 0"),
        (
            {"optimizer": "torch.optim:LBFGS", "weight_decay": 0.0},
            "optim.optimizer=torch.optim:LBFGS: .*closure",
        ),
        (
            {"optimizer": "torch.nn:ReLU", "weight_decay": 0.0},
            "optim.optimizer=torch.nn:ReLU: makes a ReLU, not a Optimizer",
        ),
    ],
)
def test_an_impossible_optimizer_is_a_config_error(fields, message):
    with pytest.raises(ConfigError, match=message):
        optimizer(**fields)


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ({"name": "cosin"}, "optim.scheduler=cosin: unknown name.*did you mean cosine"),
        ({"name": "cosine", "gamma": 0.5}, "optim.scheduler.gamma=0.5: 'cosine' takes no"),
        ({"name": "step", "milestones": "5"}, "optim.scheduler.milestones=5: "),
        ({"name": "torch.optim.lr_scheduler:ExponentialLR"}, "optim.scheduler=.*gamma"),
        ({"name": "torch.optim.lr_scheduler:ReduceLROnPlateau"}, "scheduler.mode=min: must be max"),
        ({"name": "tests.training.test_optim:Two"}, "optim.scheduler=.*Two: .*argument: 'b'"),
    ],
)
def test_an_impossible_schedule_is_a_config_error(scheduler, message):
    with pytest.raises(ConfigError, match=message):
        rates(3, **scheduler)


def test_nothing_to_train_is_a_config_error():
    with pytest.raises(ConfigError, match="model: has no parameters"):
        build_optimizer(OptimSpec(), [])
