"""Ranking metrics: queries, pools, ties, filtered candidates, and any cut into batches."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.training.rank_metrics import MRR, Hits

NAN = math.nan
METRICS = {"mrr": (MRR(), lambda r: 1 / r), "hits": (Hits(3), lambda r: r <= 3)}


def judge(metric, pred, target, cuts=()):
    parts = zip(np.split(pred, cuts), np.split(target, cuts), strict=True)
    states = [
        metric.update(torch.tensor(p), torch.tensor(t), torch.ones(len(p), dtype=torch.bool))
        for p, t in parts
    ]
    return metric.compute(states[0].merge(*states[1:]))


def rank(score, rivals):
    return 1 + (rivals > score).sum() + (rivals == score).sum() / 2


def ranks(pred, target):
    """One positive after the other, by counting."""
    rows = zip(pred, target, strict=True)
    return np.array([rank(s, p[t == 0]) for p, t in rows for s in p[t == 1] if (t == 0).any()])


def example(seed, shape):
    rng = np.random.default_rng(seed)
    target = rng.choice([1.0, 0.0, 0.0, NAN], shape)
    target.flat[:2] = 1.0, 0.0
    return rng.integers(-4, 4, shape) / 4, target


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    width=st.sampled_from([1, 5]),
    cuts=st.lists(st.integers(0, 30), max_size=4),
)
def test_any_cut_equals_the_ranks_counted_one_by_one(name, seed, width, cuts):
    metric, worth = METRICS[name]
    pred, target = example(seed, (30, width))
    pooled = ranks(pred.T, target.T) if width == 1 else ranks(pred, target)
    value = judge(metric, pred, target, sorted(cuts))
    assert value.value == pytest.approx(worth(pooled).mean(), abs=1e-12)
    assert value.n == len(pooled)


@pytest.mark.parametrize("target", [[[1.0, *[0.0] * 99]] * 4, [[1.0], *[[0.0]] * 99]])
def test_a_constant_predictor_is_in_the_middle(target):
    """Field case C5: all tie, so every rank is 50.5 of 100."""
    target = np.array(target)
    pred = np.zeros_like(target)
    assert judge(MRR(), pred, target).value == pytest.approx(1 / 50.5)
    assert judge(Hits(10), pred, target).value == 0


def test_known_answers_that_are_filtered_are_no_candidates():
    pred = np.array([[0.1, 0.9, 0.5, 0.0]])
    assert judge(MRR(), pred, np.array([[1.0, 0, 0, 0]])).value == pytest.approx(1 / 3)
    assert judge(MRR(), pred, np.array([[1.0, NAN, 0, 0]])).value == pytest.approx(1 / 2)


def test_positives_without_a_rival_are_undefined_and_counted():
    """Field case D4: no negatives are possible."""
    both = judge(MRR(), np.zeros((2, 2)), np.array([[1.0, NAN], [1.0, 0.0]]))
    assert both == (pytest.approx(1 / 1.5), 1, 1)
    pool = judge(Hits(), np.zeros((3, 1)), np.ones((3, 1)))
    assert math.isnan(pool.value)
    assert pool[1:] == (0, 3)


@pytest.mark.parametrize("metric", [MRR(), Hits(1)])
@pytest.mark.parametrize("wide", [True, False])
def test_a_score_of_nan_gives_nan(metric, wide):
    """Field case B2: NaN is not above, below or level with anything, and never a hit."""
    pred, target = np.array([[NAN, 0.5, 0.1]]), np.array([[1.0, 0, 0]])
    value = judge(metric, pred, target) if wide else judge(metric, pred.T, target.T)
    assert math.isnan(value.value)


def test_hits_of_a_class_id_is_top_k_accuracy():
    logits = np.array([[0.1, 0.5, 0.9], [0.8, 0.1, 0.3]])
    assert judge(Hits(2), logits, np.array([1, 1])).value == 0.5


@pytest.mark.parametrize("k", [0, 2.5, True])
def test_k_is_a_whole_number_from_one_on(k):
    with pytest.raises(ConfigError, match=r"metrics\.k="):
        registry.build("metrics", Component.model_validate({"name": "hits", "k": k}))
