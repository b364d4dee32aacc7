"""Keys that cannot be dimensions, or not with such choices."""

import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.keys import require_sensible
from gymspace.sweep.spaces.space import parse_space

DATASET = {"dataset": ["cora", "digits"]}


@pytest.mark.parametrize("key", ["trial.timeout", "log.tensorboard", "data.root", "trial"])
def test_a_key_that_is_in_no_id_makes_no_designs(key):
    with pytest.raises(ConfigError, match=rf"sweep\.space\.{key}: is in no id"):
        require_sensible(parse_space([DATASET, {key: [1, 2]}]))


def test_a_key_that_is_in_no_id_may_follow_another_or_be_set():
    root = {"choices": ["here", "there"], "with": "dataset"}
    require_sensible(parse_space({**DATASET, "data.root": root, "trial.timeout": [5]}))


@pytest.mark.parametrize("key", ["model.layers_mp", "train.early_stopping"])
def test_a_range_of_a_whole_number_is_one_of_whole_numbers(key):
    require_sensible(parse_space({key: {"low": 1, "high": 3}}))
    with pytest.raises(ConfigError, match=r"write int\(interval\(1,3\)\)"):
        require_sensible(parse_space({key: {"low": 1.0, "high": 3.0}}))


@pytest.mark.parametrize("key", ["optim.lr", "optim.grad_clip", "model.layer.slope", "no.key"])
def test_a_range_of_any_other_key_is_its_own_business(key):
    require_sensible(parse_space({key: {"low": 1.0, "high": 3.0}}))
