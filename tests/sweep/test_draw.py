"""How designs are taken from a space."""

import math

import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.draw import Grid, Random
from gymspace.sweep.space import Dimension

SMALL = [Dimension("a", (1, 2)), Dimension("b", ("x", None, True))]


def cells(draw):
    found = []
    while (cell := draw.ask()) is not None:
        draw.tell(cell, {"status": "failed"})
        found.append(cell)
    return found


def test_a_grid_holds_every_combination_once_the_last_varying_fastest():
    grid = Grid([Dimension("a", (1, 2)), Dimension("b", ("x", None))])
    assert cells(grid) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
        {"a": 2, "b": None},
    ]


def test_an_empty_space_is_the_base_design_alone():
    assert cells(Grid([])) == [{}]


@pytest.mark.parametrize("space", [[], [Dimension("a", (1,))]])
def test_an_exhausted_grid_stays_exhausted(space):
    grid = Grid(space)
    cells(grid)
    assert [grid.ask(), grid.ask()] == [None, None]


WIDE = [Dimension(f"key{i}", tuple(range(10))) for i in range(30)]


def test_random_designs_differ_and_lie_in_the_space():
    found = cells(Random(SMALL, n=5))
    assert len({tuple(cell.items()) for cell in found}) == len(found) == 5
    grid = cells(Grid(SMALL))
    assert all(cell in grid for cell in found)


@pytest.mark.parametrize("n", [6, 1000])
def test_a_random_draw_of_all_is_the_grid_in_another_order(n):
    found, grid = cells(Random(SMALL, n=n)), cells(Grid(SMALL))
    assert found != grid
    assert sorted(found, key=repr) == sorted(grid, key=repr)


def test_a_random_draw_depends_on_space_and_seed_alone():
    first, second = Random(WIDE, n=8), Random(WIDE, n=8)
    assert [first.ask() for _ in range(8)] == cells(second) == cells(Random(WIDE, n=20))[:8]
    assert cells(Random(WIDE, n=8, seed=1)) != cells(Random(WIDE, n=8))


def test_a_space_too_large_to_list_is_drawn_from_evenly():
    """Each of 10 ** 30 designs is as likely: no choice of a key is far from its share."""
    assert math.prod(len(d.choices) for d in WIDE) > 2**64
    found = cells(Random(WIDE, n=500))
    for dimension in WIDE:
        counts = [sum(cell[dimension.key] == c for cell in found) for c in dimension.choices]
        assert min(counts) >= 20
        assert max(counts) <= 90


@pytest.mark.parametrize("n", [0, -3])
def test_a_random_draw_of_nothing_is_refused(n):
    with pytest.raises(ConfigError, match=rf"^sweep\.draw\.n={n}: must be 1 or more"):
        Random(SMALL, n=n)


def test_a_random_draw_of_an_empty_space_is_the_base_design_alone():
    assert cells(Random([])) == [{}]
