"""Widths matched to a number of parameters."""

import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.models import budget
from gymspace.models.budget import count_design, count_params, match_width
from gymspace.models.known import Known
from gymspace.models.model import build_model
from tests.models.designs import KNOWN, build, design

STAGES = ("stack", "skipsum", "skipconcat")
DESIGNS = [(pre, stage) for pre in (0, 1, 3) for stage in STAGES]


def matched(target, dim_in=20, dim_out=4, tolerance=0.02, **model):
    return match_width(design(**model), dim_in, dim_out, KNOWN, target, tolerance)


def test_real_counts_agree_on_the_widths_of_the_data():
    """Field case A1: features of width 5,000, 15 classes, a baseline of width 256."""
    target = count_design(design(dim_inner=256), 5000, 15, KNOWN)
    counts = []
    for pre, stage in DESIGNS:
        shape = {"layers_pre_mp": pre, "stage": stage}
        if (pre, stage) == (0, "skipsum"):
            # Adds the features themselves: only their own width fits, which is far too large.
            with pytest.raises(ConfigError, match=r"^budget=.* model.dim_inner=5000,"):
                matched(target, 5000, 15, **shape)
            continue
        found = matched(target, 5000, 15, **shape)
        model = build_model(design(**shape, dim_inner=found.width), 5000, 15, KNOWN)
        counts.append(count_params(model))
        assert counts[-1] == found.achieved
        assert found.error == (found.achieved - target) / target
    assert max(counts) / min(counts) <= 1.05


@pytest.mark.parametrize("width", [1, 7, 64, 200])
@pytest.mark.parametrize("start", [1, 6, 300])
def test_the_width_of_a_count_is_found_from_anywhere(width, start):
    target = count_design(design(dim_inner=width), 20, 4, KNOWN)
    found = matched(target, dim_inner=start)
    assert (found.width, found.achieved, found.error) == (width, target, 0)


def test_widths_that_do_not_fit_are_passed_over():
    layer = {"name": "gat", "heads": 8}
    found = matched(20_000, tolerance=0.2, layer=layer, dim_inner=1)
    assert found.width % 8 == 0
    near = [count_design(design(layer=layer, dim_inner=w), 20, 4, KNOWN) for w in range(8, 200, 8)]
    assert found.achieved == min(near, key=lambda count: abs(count - 20_000))


@pytest.mark.parametrize("layer", ["pna", "gin", "gatedgcn", "gat", "general"])
def test_counts_are_those_of_the_model(layer):
    assert count_design(design(layer=layer, dim_inner=20), 20, 4, KNOWN) == count_params(
        build(20, 4, known=KNOWN, layer=layer, dim_inner=20)
    )


def test_a_target_between_two_widths_is_told_with_the_tolerance_that_would_do():
    low, high = (count_design(design(dim_inner=width), 20, 4, KNOWN) for width in (4, 5))
    target = (2 * low + high) // 3
    with pytest.raises(ConfigError) as caught:
        matched(target)
    start, _, enough = str(caught.value).partition("so set budget.tolerance=")
    assert f"the nearest is {low} parameters at model.dim_inner=4, -" in start
    assert matched(target, tolerance=float(enough.partition(",")[0])).width == 4


def test_ten_parameters_are_an_error():
    """Field case A1: out of reach is told, with what is nearest."""
    least = count_design(design(dim_inner=1), 5000, 15, KNOWN)
    with pytest.raises(ConfigError) as caught:
        matched(10, 5000, 15)
    assert str(caught.value).startswith(
        f"budget=10: the nearest is {least} parameters at model.dim_inner=1,"
    )
    assert "tolerance" not in str(caught.value)


def test_a_budget_that_no_width_reaches_is_an_error():
    """The width changes nothing here."""
    shape = {"layers_pre_mp": 0, "layers_mp": 1, "layers_post_mp": 0}
    with pytest.raises(ConfigError, match=r"^budget=100000: the nearest is"):
        matched(100_000, **shape)


def test_no_width_fits():
    with pytest.raises(ConfigError, match=r"^budget=1000: no width fits: model\.layer"):
        matched(1000, layer={"name": "general", "self_msg": "nothing"})


def test_matching_draws_no_random_numbers():
    before = torch.get_rng_state()
    matched(20_000, tolerance=0.2, layer="pna")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_repeats_of_a_design_share_one_search(monkeypatch):
    first = matched(20_000, tolerance=0.2, act="tanh")
    monkeypatch.setattr(budget, "build_model", None)
    again = Known(KNOWN.edge_dim, KNOWN.degrees.clone())
    assert match_width(design(act="tanh"), 20, 4, again, 20_000, 0.2) is first
