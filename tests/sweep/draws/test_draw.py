"""How designs are taken from a space: every one of them, or some at random."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from gymspace.errors import ConfigError
from gymspace.sweep.draws.draw import Grid, Random
from gymspace.sweep.spaces.space import Dimension, Space, constrain, identity, parse_space
from tests.sweep.drawn import cells, unions

HUGE = {letter * n: list(range(9)) for n in range(1, 5) for letter in "abcdefg"}


def test_a_grid_holds_every_combination_once_the_last_varying_fastest():
    grid = Grid(Space.of(Dimension("a", (1, 2)), Dimension("b", ("x", None))))
    assert cells(grid) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
        {"a": 2, "b": None},
    ]


def test_an_empty_space_is_the_base_design_alone():
    assert cells(Grid(Space())) == cells(Random(Space())) == [{}]


@pytest.mark.parametrize("space", [Space(), Space.of(Dimension("a", (1,)))])
@pytest.mark.parametrize("kind", [Grid, Random])
def test_an_exhausted_draw_stays_exhausted(space, kind):
    draw = kind(space)
    cells(draw)
    assert [draw.ask(), draw.ask()] == [None, None]


@given(unions, st.integers(1, 40), st.integers(0, 5))
def test_random_designs_are_of_the_space_without_repeats_and_capped_at_its_size(raw, n, seed):
    space = parse_space(raw)
    every = [identity(cell) for cell in cells(Grid(space))]
    drawn = [identity(cell) for cell in cells(Random(space, n, seed))]
    assert len(set(every)) == len(every) == space.size
    assert len(set(drawn)) == len(drawn) == min(n, space.size)
    assert set(drawn) <= set(every)


@given(unions, st.integers(0, 5))
def test_a_random_draw_is_a_function_of_space_and_seed_and_begins_alike(raw, seed):
    drawn = cells(Random(parse_space(raw), 20, seed))
    assert cells(Random(parse_space(raw), 8, seed)) == drawn[:8]


@given(st.data(), unions)
def test_the_order_in_which_dimensions_are_written_changes_no_draw(data, raw):
    other = [dict(data.draw(st.permutations(list(part.items())))) for part in raw]
    assert cells(Random(parse_space(raw), 9)) == cells(Random(parse_space(other), 9))


def test_another_seed_gives_another_draw():
    space = parse_space(HUGE)
    assert cells(Random(space, 3, 0)) != cells(Random(space, 3, 1))


@pytest.mark.parametrize(
    "raw",
    [
        {"a": [1, 2, 3], "b": [1, 2]},
        {"a": [1, 2], "b": {"choices": [1, 2, 3], "when": {"a": 1}}},
        [{"a": [1, 2]}, {"a": [2, 3], "b": [1, 2, 3]}],
    ],
    ids=["product", "condition", "union"],
)
def test_every_design_is_equally_likely(raw):
    space = parse_space(raw)
    times = {identity(cell): 0 for cell in cells(Grid(space))}
    for seed in range(3000):
        for cell in cells(Random(space, 2, seed)):
            times[identity(cell)] += 1
    assert chisquare(list(times.values())).pvalue > 0.001


def test_a_huge_space_is_never_listed():
    assert len(cells(Random(parse_space(HUGE), 96))) == 96


def test_a_range_is_drawn_by_value_its_logarithm_if_asked():
    raw = {"lr": {"low": 1e-4, "high": 1e-1, "log": True}, "p": {"low": 0, "high": 0.5}}
    drawn = cells(Random(parse_space(raw), 900))
    assert all(1e-4 <= cell["lr"] <= 1e-1 and 0 <= cell["p"] <= 0.5 for cell in drawn)
    thirds = [sum(low <= cell["lr"] < 10 * low for cell in drawn) for low in (1e-4, 1e-3, 1e-2)]
    assert chisquare(thirds).pvalue > 0.001
    halves = [sum(cell["p"] < 0.25 for cell in drawn), sum(cell["p"] >= 0.25 for cell in drawn)]
    assert chisquare(halves).pvalue > 0.001


def test_a_range_of_whole_numbers_is_drawn_to_its_last_number():
    space = parse_space({"a": {"low": 1, "high": 300, "log": True}})
    drawn = [cell["a"] for cell in cells(Random(space, 999))]
    assert sorted(drawn) == list(range(1, 301))
    assert space.size == 300


def test_a_constraint_holds_in_every_draw():
    raw = {"a": {"low": 1, "high": 40}, "b": {"low": 1, "high": 9, "log": True}, "c": [0.5, 1]}
    space = constrain(parse_space(raw), ["a % b == 0", "a > 3 or c < 1"], {})
    drawn = cells(Random(space, 50))
    assert len(drawn) == 50
    assert all(c["a"] % c["b"] == 0 and (c["a"] > 3 or c["c"] < 1) for c in drawn)
    assert len(cells(Grid(space))) == sum(
        a % b == 0 and (a > 3 or c < 1)
        for a in range(1, 41)
        for b in range(1, 10)
        for c in (0.5, 1)
    )


def test_what_hardly_any_design_meets_is_told_and_not_waited_for(monkeypatch):
    monkeypatch.setattr("gymspace.sweep.spaces.shuffle.PATIENCE", 100)
    raw = {"a": {"low": 0.0, "high": 1.0}}
    space = constrain(parse_space(raw), ["a < 0"], {})
    with pytest.raises(ConfigError, match="none of 100 designs drawn in a row"):
        cells(Random(space, 3))


@pytest.mark.parametrize("n", [0, -1])
def test_no_designs_at_all_are_a_mistake(n):
    with pytest.raises(ConfigError, match=rf"^sweep\.draw\.n={n}: must be 1 or more"):
        Random(Space(), n)


def test_a_grid_of_a_continuous_range_is_a_mistake():
    with pytest.raises(ConfigError, match=r"^sweep\.space\.b: is a continuous range"):
        Grid(parse_space({"a": [1], "b": {"low": 0.0, "high": 1.0}}))


def test_designs_of_a_grid_come_one_by_one():
    assert len(list(islice(parse_space(HUGE).designs(), 5))) == 5
