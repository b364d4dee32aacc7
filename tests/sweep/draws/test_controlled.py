"""Controlled random search: matched groups."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymspace.errors import ConfigError
from gymspace.sweep.draws.controlled import Controlled
from gymspace.sweep.spaces.space import constrain, identity, parse_space
from tests.sweep.drawn import cells

RAW = {"a": [1, 2, 3], "b": [1, 2], "c": ["x", "y", "z"], "d": [0, 1, 2, 3]}


def groups(raw, n=5, seed=0, constraints=()):
    """The designs of a draw, and its groups with the designs in place of numbers."""
    draw = Controlled(constrain(parse_space(raw), constraints, {}), n, seed)
    designs = cells(draw)
    return designs, {
        key: [[designs[place] for place in group] for group in found]
        for key, found in draw.groups.items()
    }


def rest(design, *keys):
    return identity({k: v for k, v in design.items() if k not in keys})


@given(st.integers(1, 30), st.integers(0, 3))
def test_groups_are_complete_with_all_else_equal_and_shared_designs_run_once(n, seed):
    """Field case B5: half-finished matched groups are ranked."""
    designs, found = groups(RAW, n, seed)
    assert len({identity(design) for design in designs}) == len(designs)
    settings = {"a": 24, "b": 36, "c": 24, "d": 18}
    for key, matched in found.items():
        assert len(matched) == min(n, settings[key])
        assert len({rest(group[0], key) for group in matched}) == len(matched)
        for group in matched:
            assert [design[key] for design in group] == RAW[key]
            assert len({rest(design, key) for design in group}) == 1
    used = {identity(d) for matched in found.values() for group in matched for d in group}
    assert used == {identity(design) for design in designs}


@given(st.permutations(list(RAW)))
def test_the_groups_of_a_dimension_do_not_depend_on_what_was_drawn_before(order):
    one, other = groups(RAW)[1], groups({key: RAW[key] for key in order})[1]
    assert {key: list(map(str, found)) for key, found in one.items()} == {
        key: [str([{k: d[k] for k in RAW} for d in group]) for group in other[key]] for key in one
    }


def test_a_condition_is_met_on_both_sides():
    raw = {"a": [1, 2], "b": ["off", "on"], "c": {"choices": [1, 2, 3], "when": {"b": "on"}}}
    _, found = groups(raw, 99)
    assert [len(found[key]) for key in "abc"] == [4, 6, 2]
    for off, on in found["b"]:
        assert ("c" in off, "c" in on) == (False, True)
        assert rest(off, "b") == rest(on, "b", "c")
    assert all([d["c"] for d in group] == [1, 2, 3] for group in found["c"])


def test_a_sub_space_in_which_a_dimension_does_not_vary_has_no_group_of_it():
    raw = [{"a": [1, 2], "b": [1, 2]}, {"a": [3], "b": [1, 2], "c": [1, 2]}]
    _, found = groups(raw, 99)
    assert [len(found[key]) for key in "abc"] == [2, 4, 2]
    assert all([d["a"] for d in group] == [1, 2] for group in found["a"])


def test_what_is_zipped_is_one_dimension():
    _, found = groups({"a": [1, 2], "b": [3, 4], "c": {"choices": ["x", "x"], "with": "b"}})
    assert list(found) == ["a", "b"]
    assert {(d["b"], d["c"]) for group in found["b"] for d in group} == {(3, "x"), (4, "x")}


def test_a_range_is_compared_if_it_has_a_step_and_drawn_if_not():
    raw = {
        "a": {"low": 0, "high": 4, "step": 2},
        "b": {"low": 0.0, "high": 1.0},
        "c": {"choices": [7]},
    }
    _, found = groups(raw)
    assert list(found) == ["a"]
    assert all(
        [d["a"] for d in g] == [0, 2, 4] and len({d["b"] for d in g}) == 1 for g in found["a"]
    )


def test_a_group_that_a_constraint_leaves_with_a_gap_is_not_drawn():
    """Field case B5: complete groups only."""
    raw = {"a": [1, 2, 3], "b": [4, 6, 12]}
    designs, found = groups(raw, 9, constraints=["b % a == 0"])
    assert all(d["b"] % d["a"] == 0 for d in designs)
    assert {g[0]["b"] for g in found["a"]} == {6, 12}
    assert {g[0]["a"] for g in found["b"]} == {1, 2}


def test_settings_are_equally_likely():
    from scipy.stats import chisquare

    times = dict.fromkeys(range(4), 0)
    for seed in range(2000):
        times[groups(RAW, 1, seed)[1]["a"][0][0]["d"]] += 1
    assert chisquare(list(times.values())).pvalue > 0.001


@pytest.mark.parametrize(
    ("raw", "constraints", "problem"),
    [
        ({}, (), "sweep.space: has no dimension with choices to compare"),
        ({"a": [1]}, (), "has no dimension with choices to compare"),
        ({"a": {"low": 0.0, "high": 1.0}}, (), "has no dimension with choices to compare"),
        ({"a": [1, 2], "b": [1, 2]}, ["a == b"], "sweep.constraints: leave hardly a setting"),
    ],
)
def test_nothing_to_compare_is_a_mistake(raw, constraints, problem):
    with pytest.raises(ConfigError) as error:
        groups(raw, constraints=constraints)
    assert problem in str(error.value)


def test_the_draw_of_a_large_space_lists_it_nowhere():
    raw = {f"k{n}": [0, 1, 2] for n in range(40)}
    designs, found = groups(raw, 10)
    assert len(found) == 40
    assert len(designs) == 40 * 10 * 3
    assert random.Random(0).choice(designs).keys() == raw.keys()
