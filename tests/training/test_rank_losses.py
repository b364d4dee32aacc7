"""Ranking losses: which pairs are formed, by hand."""

import math

import pytest
import torch

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component

ROWS = torch.tensor([[0.5, 2.0, -1.0, 0.0, 1.0]])
SIGNS = torch.tensor([[1.0, 0.0, 1.0, 0.0, 0.0]])


def build(name, **options):
    return registry.build("loss", Component.model_validate({"name": name, **options}))


def everything(count):
    return torch.ones(count, dtype=torch.bool)


def test_one_label_in_a_row_is_told():
    with pytest.raises(ConfigError, match="loss=bpr: needs several labels in a row"):
        build("bpr")(ROWS[0], SIGNS[0], everything(5))


def test_each_positive_of_a_row_meets_each_of_its_negatives():
    pred = torch.tensor([[1.0, 0.5, 3.0, 9.0], [0.0, 0.0, 1.0, 2.0]])
    target = torch.tensor([[1.0, 0, 0, math.nan], [1, 1, 0, 0]])
    part = build("margin", by=1.0)(pred, target, everything(2))
    assert (part.total.item(), part.count) == (0.5 + 3.0 + 2 * (2.0 + 3.0), 6)


def test_rows_of_queries_add_up_over_batches():
    rng = torch.Generator().manual_seed(0)
    pred, target = torch.randn(6, 4, generator=rng), torch.eye(4).repeat(2, 1)[:6]
    loss = build("bpr")
    parts = [loss(pred[r::2], target[r::2], everything(3)) for r in range(2)]
    whole = loss(pred, target, everything(6))
    torch.testing.assert_close(sum(part.total for part in parts), whole.total)
    assert sum(part.count for part in parts) == whole.count


def test_users_without_a_pair_change_nothing():
    """Field case D6: a thousand rows without labels leave the loss and its count alone."""
    more = (
        torch.cat([ROWS, torch.randn(1000, 5)]),
        torch.cat([SIGNS, torch.full((1000, 5), math.nan)]),
    )
    for name in ("bpr", "margin"):
        small, large = build(name)(ROWS, SIGNS, everything(1)), build(name)(*more, everything(1001))
        assert (small.total, small.count) == (large.total, large.count)


@pytest.mark.parametrize("sign", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("name", ["bpr", "margin"])
def test_without_a_pair_it_is_zero_with_a_zero_gradient(name, sign):
    """Field case D4: no negatives, or nothing but negatives."""
    pred = torch.ones(3, 2, requires_grad=True)
    part = build(name)(pred, torch.full((3, 2), sign), everything(3))
    part.total.backward()
    assert (part.total, part.count) == (0, 0)
    assert not pred.grad.any()


def test_a_margin_of_nothing_is_told():
    with pytest.raises(ConfigError, match=r"loss\.by=0: must be above 0"):
        build("margin", by=0)
