"""Designs of a Sobol sequence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymspace.errors import ConfigError
from gymspace.sweep.draws.draw import Grid
from gymspace.sweep.draws.sobol import Sobol
from gymspace.sweep.spaces.space import Space, constrain, identity, parse_space
from tests.sweep.drawn import cells, unions


@settings(max_examples=40)
@given(unions, st.integers(1, 40), st.integers(0, 3))
def test_designs_are_of_the_space_without_repeats_and_capped_at_its_size(raw, n, seed):
    space = parse_space(raw)
    drawn = [identity(cell) for cell in cells(Sobol(space, n, seed))]
    assert len(set(drawn)) == len(drawn) == min(n, space.size)
    assert set(drawn) <= {identity(cell) for cell in cells(Grid(space))}
    assert drawn == [identity(cell) for cell in cells(Sobol(parse_space(raw), n, seed))]


def test_every_eighth_of_a_range_is_met_equally_often():
    space = parse_space(
        {"a": {"low": 0.0, "high": 1.0}, "b": {"low": 1, "high": 1000, "log": True}}
    )
    drawn = cells(Sobol(space, 64))
    assert [sum(int(cell["a"] * 8) == n for cell in drawn) for n in range(8)] == [8] * 8
    assert 24 <= sum(cell["b"] < 32 for cell in drawn) <= 40


def test_another_seed_scrambles_otherwise():
    space = parse_space({"a": {"low": 0.0, "high": 1.0}})
    assert cells(Sobol(space, 4, 0)) != cells(Sobol(space, 4, 1))


def test_constraints_hold():
    space = constrain(
        parse_space({"a": {"low": 0.0, "high": 1.0}, "b": [1, 2]}), ["a * b < 0.9"], {}
    )
    drawn = cells(Sobol(space, 30))
    assert len(drawn) == 30
    assert all(cell["a"] * cell["b"] < 0.9 for cell in drawn)


def test_no_designs_at_all_are_a_mistake():
    with pytest.raises(ConfigError, match=r"^sweep\.draw\.n=0"):
        Sobol(Space(), 0)
