"""Dimensions and what a command line makes of them."""

import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.space import Dimension, override, parse_space


def test_a_list_and_a_full_dimension_mean_the_same_but_for_the_alias():
    short, full = parse_space({"a": [1, 2], "b": {"choices": [1, 2], "alias": "x"}})
    assert (short.choices, short.alias) == ((1, 2), None)
    assert (full.choices, full.alias) == ((1, 2), "x")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"a": []}, "sweep.space.a: has no choices"),
        ({"a": {"choices": []}}, "sweep.space.a: has no choices"),
        ({"a": [1, 2, 1]}, "sweep.space.a=1: is given twice"),
        ({"a": [0.01, 1e-2]}, "sweep.space.a=0.01: is given twice"),
        ({"a": [{"name": "gat"}, {"name": "gat"}]}, "is given twice"),
        ({"a": 3}, "sweep.space.a=3: must be a list of choices"),
        ({"a": "stack"}, "sweep.space.a=stack: must be a list of choices"),
        ({"a": None}, "must be a list of choices"),
        ({"a": {"x": [1]}}, "must be a list of choices"),
        ({"a": {"choices": [1], "alas": "b"}}, "has unknown keys ['alas']"),
        ({"a": {"choices": [1], "alias": 3}}, "sweep.space.a.alias=3: must be a name"),
        ({"seed": [1, 2]}, "set sweep.seeds"),
        ({"fold": [1, 2]}, "set sweep.folds"),
    ],
)
def test_a_space_that_is_none(raw, problem):
    with pytest.raises(ConfigError) as error:
        parse_space(raw)
    assert problem in str(error.value)


@pytest.mark.parametrize("choices", [[1, True], [1, 1.0], ["1", 1], [None, "None"], [False, 0]])
def test_what_python_calls_equal_is_two_choices(choices):
    """Field case A3: two designs that look alike must not become one."""
    assert parse_space({"a": choices})[0].choices == tuple(choices)


def test_a_command_line_narrows_widens_and_adds():
    space = parse_space({"a": {"choices": [1, 2], "alias": "x"}, "b": [3, 4]})
    given = override(space, {"a": [2], "c": [5, 6]})
    assert given == (
        Dimension("a", (2,), "x"),
        Dimension("b", (3, 4)),
        Dimension("c", (5, 6)),
    )
    assert override(space, {}) == space


def test_a_command_line_may_not_repeat_a_choice():
    with pytest.raises(ConfigError, match="is given twice"):
        override(parse_space({"a": [1, 2]}), {"a": [2, 2]})
