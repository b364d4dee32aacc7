"""K folds: each row is tested once, classes are dealt evenly."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.folds import kfold

PARTS = ("train", "val", "test")


def labelled(y):
    return Data(y=torch.as_tensor(y))


CLASSES = labelled([0] * 30 + [1] * 17 + [2] * 12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(4, 15), min_size=1, max_size=4), st.integers(3, 4), st.booleans())
def test_every_row_is_tested_once_and_every_class_evenly(counts, folds, stratified):
    y = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    splits = [kfold(labelled(y), 0, fold, folds, stratified) for fold in range(folds)]
    assert torch.equal(torch.stack([s.test for s in splits]).sum(0), torch.ones(len(y)).long())
    for number, split in enumerate(splits):
        assert torch.equal(split.val, splits[(number + 1) % folds].test)
        assert (split.train.int() + split.val.int() + split.test.int() == 1).all()
        assert abs(int(split.test.sum()) - len(y) / folds) < 1
        tested = y[split.test].bincount(minlength=len(counts)).tolist()
        assert not stratified or all(
            abs(some - of / folds) < 1 for some, of in zip(tested, counts, strict=True)
        )


def test_the_parts_are_of_the_split_seed_alone():
    one, other = kfold(CLASSES, seed=0), kfold(CLASSES, seed=1)
    assert torch.equal(one.test, other.test)
    assert not torch.equal(one.test, kfold(CLASSES, seed=0, split_seed=1).test)
    redrawn = [kfold(CLASSES, seed=seed, split_seed=None) for seed in (0, 1)]
    assert not torch.equal(redrawn[0].test, redrawn[1].test)
    assert one.text == "kfold(folds=10, fold=0, seed=0): 47/6/6"


def test_validation_may_be_a_share_of_the_rest():
    splits = [kfold(CLASSES, 0, fold, folds=2, val=0.2) for fold in (0, 1)]
    assert torch.equal(splits[0].test, ~splits[1].test)
    assert splits[0].text == "kfold(folds=2, fold=0, val=0.2, seed=0): 24/5/30"
    assert CLASSES.y[splits[0].val].bincount().tolist() == [3, 1, 1]


def test_rows_without_a_label_are_in_no_fold():
    """Field case C3."""
    data = labelled([0, 1, -1] * 6)
    assert not any((kfold(data, 0, fold, 4).test & (data.y < 0)).any() for fold in range(4))


def test_numbers_are_dealt_too():
    split = kfold(labelled([0.5, torch.nan, 2.0, 3.0]), seed=0, folds=3)
    assert split.text.endswith(": 1/1/1")


@pytest.mark.parametrize(
    ("data", "arguments", "line"),
    [
        (CLASSES, {"folds": 13}, "data.split.folds=13: class 2 has only 12 labelled graphs"),
        (labelled([0.5] * 4), {"folds": 5}, "data.split.folds=5: only 4 graphs have a label"),
        (CLASSES, {"folds": 1}, "data.split.folds=1: must be a whole number of 2 or more"),
        (CLASSES, {"fold": 10}, "fold=10: out of range: there are 10 splits, folds 0 to 9"),
        (CLASSES, {"folds": 2}, "data.split.folds=2: leaves nothing to train on"),
        (CLASSES, {"val": 2}, "data.split.val=2: must be a number from 0 to 1"),
        (CLASSES, {"val": 0.0}, "the val split is empty (of 59 graphs, 59 with a label)"),
    ],
)
def test_impossible_folds_are_named(data, arguments, line):
    with pytest.raises(ConfigError) as caught:
        kfold(data, seed=0, rows="graphs", **arguments)
    assert line in str(caught.value)
