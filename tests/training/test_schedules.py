"""Schedules against their closed forms, and one that waits for a better validation score."""

import math

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

from gymspace import tables
from gymspace.errors import ConfigError
from gymspace.spec import OptimSpec
from gymspace.training.optim import build_optimizer, build_scheduler
from gymspace.training.schedules import advance, needs_value

NAN = math.nan


def built(epochs=10, towards="max", optimizer="adam", lr=1.0, **scheduler):
    spec = OptimSpec.model_validate({"lr": lr, "scheduler": scheduler, "optimizer": optimizer})
    opt = build_optimizer(spec, nn.Linear(2, 1).parameters())
    return opt, build_scheduler(spec, opt, epochs, towards)


def rates(values, **keys):
    """The rate of each epoch, from a rate of 1; ``values`` are the metric's after each of them."""
    opt, schedule = built(**keys)
    seen = []
    for value in values:
        seen.append(opt.param_groups[0]["lr"])
        opt.step()
        advance(schedule, value)
    return seen


def over(epochs, **scheduler):
    return rates([0.5] * epochs, epochs=epochs, **scheduler)


def warmed(epochs, warmup, shape):
    """As transformers defines it; GraphGPS has 1e-6 instead of 0 in the first epoch."""
    rise = [max(1e-6, epoch / warmup) for epoch in range(warmup)]
    return rise + [shape((e - warmup) / (epochs - warmup)) for e in range(warmup, epochs)]


SHAPES = {
    "warmup_linear": lambda done: 1 - done,
    "warmup_cosine": lambda done: 0.5 * (1 + math.cos(math.pi * done)),
    "warmup_polynomial": lambda done: (1 - done) ** 2,
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("epochs", "warmup"), [(10, 3), (10, 0), (7, 6), (1, 0)])
def test_a_warm_up_rises_linearly_and_falls_in_its_shape(name, epochs, warmup):
    expected = warmed(epochs, warmup, SHAPES[name])
    assert over(epochs, name=name, warmup=warmup) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    ("share", "epochs", "rise"),
    [(0.1, 30, 3), (0.07, 100, 7), (0.25, 10, 3), (0.9, 1, 0), (0.0, 5, 0)],
)
def test_a_share_is_that_of_the_epochs_rounded_up(name, share, epochs, rise):
    assert over(epochs, name=name, warmup=share) == over(epochs, name=name, warmup=rise)


@pytest.mark.parametrize("name", SHAPES)
def test_the_fall_ends_at_eta_min(name):
    opt, schedule = built(10, lr=0.5, name=name, warmup=2, eta_min=0.1)
    seen = []
    for _ in range(10):
        opt.step()
        schedule.step()
        seen.append(opt.param_groups[0]["lr"])
    assert seen[-1] == pytest.approx(0.1)
    middle = 0.1 + 0.4 * SHAPES[name](0.5)
    assert seen[5] == pytest.approx(middle)


def test_schedules_meet_where_they_should():
    linear = over(10, name="warmup_linear", warmup=3)
    assert over(10, name="warmup_polynomial", warmup=3, power=1.0) == pytest.approx(linear)
    cosine = over(10, name="cosine", eta_min=0.2)
    assert over(10, name="warmup_cosine", warmup=0, eta_min=0.2) == pytest.approx(cosine)


def test_every_parameter_group_has_the_rate():
    spec = OptimSpec.model_validate({"decay_norms": False, "scheduler": "warmup_cosine"})
    opt = build_optimizer(spec, nn.Linear(2, 1).parameters())
    schedule = build_scheduler(spec, opt, 10, "max")
    opt.step()
    schedule.step()
    assert [group["lr"] for group in opt.param_groups] == [spec.lr, spec.lr]


def cycle(epochs, start, peak, low):
    """One cycle of cosines: ``low`` / peak / least, with the peak at the end of the first phase."""
    top, last = start * epochs - 1, epochs - 1
    rise = [peak + (low - peak) * (1 + math.cos(math.pi * e / top)) / 2 for e in range(epochs)]
    done = [(e - top) / (last - top) for e in range(epochs)]
    fall = [low / 1e4 + (peak - low / 1e4) * (1 + math.cos(math.pi * share)) / 2 for share in done]
    return [rise[e] if e <= top else fall[e] for e in range(epochs)]


@pytest.mark.parametrize(("epochs", "start"), [(10, 0.3), (20, 0.5), (6, 0.9)])
def test_one_cycle_rises_to_the_full_rate_and_falls_far_below(epochs, start):
    expected = cycle(epochs, start, 1.0, 1 / 25)
    assert over(epochs, name="one_cycle", pct_start=start) == pytest.approx(expected)


@pytest.mark.parametrize("epochs", [1, 2, 3, 4])
@pytest.mark.parametrize("start", [0, 0.3, 0.99])
def test_one_cycle_of_few_epochs_is_whole(epochs, start):
    seen = over(epochs, name="one_cycle", pct_start=start)
    assert all(0 < rate <= 1 for rate in seen)
    assert seen[-1] == pytest.approx(1 / 25 / 1e4)


def test_one_cycle_moves_the_momentum_against_the_rate():
    opt, schedule = built(10, name="one_cycle")
    assert opt.param_groups[0]["betas"][0] == 0.95
    for _ in range(2):
        opt.step()
        schedule.step()
    assert isinstance(schedule, OneCycleLR)
    assert (opt.param_groups[0]["lr"], opt.param_groups[0]["betas"][0]) == (1.0, 0.85)
    fixed, _ = built(10, name="one_cycle", cycle_momentum=False, optimizer="adagrad")
    assert "betas" not in fixed.param_groups[0]


def test_plateau_waits_for_more_than_patience_evaluations_without_a_better_one():
    values = [0.5, 0.6, 0.6, 0.5, 0.6, 0.7, 0.7, 0.7, 0.7]
    seen = rates(values, name="plateau", patience=2, factor=0.5)
    assert seen == [1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5]
    falling = rates([-value for value in values], towards="min", name="plateau", patience=2)
    assert falling == [1, 1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1]


def test_plateau_counts_evaluations_not_epochs():
    values = [0.5, None, None, 0.5, None, None, 0.5, None]
    assert rates(values, name="plateau", patience=1) == [1, 1, 1, 1, 1, 1, 1, 0.1]


def test_plateau_takes_an_undefined_value_for_no_better_one():
    """Field case B2: nan is never best, at the start as later."""
    assert rates([NAN, 0.5, NAN, NAN], name="plateau", patience=1) == [1, 1, 1, 1]
    opt, schedule = built(name="plateau", patience=1)
    for value in [NAN, 0.5, NAN, NAN]:
        advance(schedule, value)
    assert schedule.best == 0.5
    assert opt.param_groups[0]["lr"] == pytest.approx(0.1)


def test_a_worse_negative_score_is_no_better_one():
    """R2 may be below zero, where a relative threshold would let slightly worse values pass."""
    seen = rates([-1.0, -1.00005, -1.00005], name="plateau", patience=0, factor=0.5)
    assert seen == [1, 1, 0.5]


def test_a_threshold_is_in_units_of_the_metric():
    keys = {"name": "plateau", "patience": 0, "threshold": 0.01}
    assert rates([0.5, 0.505, 0.5], **keys) == [1, 1, 0.1]
    assert rates([0.5, 0.52, 0.5], **keys) == [1, 1, 1]


def test_plateau_goes_no_lower_than_its_least_rate():
    assert rates([1.0] * 5, name="plateau", patience=0, min_lr=0.2) == [1, 1, 0.2, 0.2, 0.2]


def test_torchs_own_plateau_is_reached_by_module_and_attribute():
    name = "torch.optim.lr_scheduler:ReduceLROnPlateau"
    keys = {"name": name, "mode": "max", "patience": 0}
    assert rates([0.5, 0.6, 0.6, 0.6], **keys) == pytest.approx([1, 1, 1, 0.1])


def test_only_plateau_needs_a_value():
    needing = {name for name in tables.SCHEDULERS if needs_value(built(name=name)[1])}
    assert needing == {"plateau"}


@pytest.mark.parametrize("name", tables.SCHEDULERS)
def test_every_schedule_lasts_for_the_training(name):
    assert over(5, name=name)[0] <= 1
    assert torch.tensor(over(5, name=name)).isfinite().all()


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ({"name": "warmup_linear", "warmup": 10}, "warmup=10: .*below train.epochs=10"),
        ({"name": "warmup_linear", "warmup": -1}, "warmup=-1: must be at least 0"),
        ({"name": "warmup_cosine", "warmup": 1.5}, "warmup=1.5: as a share"),
        ({"name": "warmup_cosine", "warmup": True}, "warmup=True: must be a number"),
        ({"name": "warmup_cosine", "warmup": "3"}, "warmup=3: must be a number"),
        ({"name": "warmup_cosine", "eta_min": 2.0}, "eta_min=2.0: .*between 0 and lr=1.0"),
        ({"name": "warmup_polynomial", "power": 0}, "power=0: must be positive"),
        ({"name": "warmup_linear", "power": 2}, "power=2: 'warmup_linear' takes no"),
        ({"name": "plateau", "factor": 1.0}, "factor=1.0: must be between"),
        ({"name": "plateau", "patience": -1}, "patience=-1: must not be"),
        ({"name": "plateau", "min_lr": 2.0}, "min_lr=2.0: is above lr=1.0"),
        ({"name": "plateau", "direction": "min"}, "direction=min: 'plateau' takes no"),
        ({"name": "one_cycle", "pct_start": 1}, "pct_start=1: must be"),
        ({"name": "one_cycle", "pct_start": 0.1}, "pct_start=0.1: .*single epoch"),
        ({"name": "one_cycle", "div_factor": 0.0}, "div_factor=0.0: must be"),
        ({"name": "one_cycle", "anneal_strategy": "cosine"}, "unknown.*did you mean cos"),
    ],
)
def test_an_impossible_argument_is_a_config_error(scheduler, message):
    with pytest.raises(ConfigError, match=f"optim.scheduler.*{message}"):
        built(**scheduler)


def test_a_cycle_of_a_momentum_that_is_not_there_is_a_config_error():
    with pytest.raises(ConfigError, match="cycle_momentum=True: Adagrad has no momentum"):
        built(name="one_cycle", optimizer="adagrad")
