"""How designs are taken from a space."""

import pytest

from gymspace.sweep.draw import Grid
from gymspace.sweep.space import Dimension


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
