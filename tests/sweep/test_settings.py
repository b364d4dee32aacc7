"""The settings of a command: what is taken out of its config, and which repeats they ask for."""

import pytest

from gymspace.errors import ConfigError
from gymspace.spec import parse
from gymspace.sweep.settings import SweepSettings, repeats, split_config


def asked(base=None, **settings):
    return repeats(split_config({"sweep": settings})[1].sweep, parse(base or {}))


def test_settings_and_the_config_of_a_trial_are_told_apart():
    config, settings = split_config({"workers": 3, "seed": 5, "model": {"layers_mp": 1}})
    assert config == {"seed": 5, "model": {"layers_mp": 1}}
    assert (settings.workers, settings.results, settings.sweep.name) == (3, "results", "sweep")


@pytest.mark.parametrize(
    ("seeds", "first", "expected"),
    [(1, 0, [0]), (3, 0, [0, 1, 2]), (2, 5, [5, 6]), ([7, 3], 0, [7, 3]), ([0], 9, [0])],
)
def test_seeds_are_a_number_of_repeats_or_a_list(seeds, first, expected):
    """Field case G3: a seed of 0 is a seed."""
    assert [r["seed"] for r in asked({"seed": first}, seeds=seeds)] == expected


def test_every_fold_comes_with_every_seed():
    pairs = [(r["seed"], r["fold"]) for r in asked(seeds=[4, 5], folds=2)]
    assert pairs == [(4, 0), (5, 0), (4, 1), (5, 1)]


@pytest.mark.parametrize("key", ["seeds", "folds"])
@pytest.mark.parametrize("value", [0, -1, True, 1.0, "3", [], [1, 1], [-1], [True], ["a"], None])
def test_repeats_that_are_none(key, value):
    with pytest.raises(ConfigError, match=f"^sweep.{key}="):
        split_config({"sweep": {key: value}})


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "a\0b", "x" * 101, 3, None])
def test_a_sweep_is_named_like_a_folder(name):
    with pytest.raises(ConfigError, match=r"^sweep\.name="):
        split_config({"sweep": {"name": name}})


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"workers": 0}, "workers=0"),
        ({"workers": "2"}, "workers=2: must be a whole number"),
        ({"results": ""}, "results="),
        ({"sweep": {"dry": "yes"}}, "sweep.dry=yes: must be true or false"),
        ({"sweep": {"stale": "ask"}}, "choices: error, keep, rerun"),
        ({"sweep": {"draw": "gird"}}, "did you mean grid?"),
        ({"sweep": {"sampler": "tpee"}}, "sweep.sampler=tpee: unknown name"),
        ({"sweep": {"pruner": "medium"}}, "did you mean median?"),
        ({"sweep": {"constraints": "params < 3"}}, "constraints=params < 3: must be a list"),
        ({"sweep": {"constraints": ["a < 1", "a < 1"]}}, "has a < 1 twice"),
        ({"sweep": {"objectives": ["params", "params"]}}, "has params twice"),
        ({"sweep": {"hours": 0}}, "sweep.hours=0: must be greater than 0"),
        ({"sweep": {"at_end": "stop"}}, "choices: finish, checkpoint"),
        ({"sweep": {"retry": "all"}}, "choices: missing, failed"),
        ({"sweep": {"storage": ""}}, "sweep.storage="),
        ({"sweep": {"nmae": "x"}}, "did you mean sweep.name?"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(config, line):
    with pytest.raises(ConfigError) as error:
        split_config(config)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        SweepSettings().name = "other"
