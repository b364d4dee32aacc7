"""Choices as codes."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from gymspace.analysis.levels import combine, encode, text
from gymspace.results.cells import NULL

CELLS = st.sampled_from([True, False, 1, 0, 2.5, "1", "True", "null", NULL, None, "", (1, 2)])


def test_look_alikes_are_different_choices():
    """Field case B7: empty, null, "null", True and "True" are five choices, and 1 is a sixth."""
    cells = [True, "True", 1, NULL, "null", None, float("nan")]
    levels = encode(pd.Series(cells, dtype=object))
    assert len(levels.values) == 6
    assert levels.codes[5] == levels.codes[6]
    assert [text(cell) for cell in levels.values] == [
        "(empty)",
        "null",
        "true",
        "1",
        '"True"',
        '"null"',
    ]


@given(st.lists(CELLS, min_size=1), st.randoms())
def test_a_code_means_the_same_in_any_order_of_rows(cells, random):
    levels = encode(pd.Series(cells, dtype=object))
    order = random.sample(range(len(cells)), len(cells))
    again = encode(pd.Series([cells[i] for i in order], dtype=object))
    assert again.values == levels.values
    assert (again.codes == levels.codes[order]).all()


def test_typed_columns_have_an_empty_choice_too():
    levels = encode(pd.Series([3, pd.NA, 1], dtype="Int64"))
    assert levels.values == (None, 1, 3)
    assert levels.codes.tolist() == [2, 0, 1]


def test_rows_are_combined_without_loss():
    codes = np.array([[0, 1, 0, 1], [2, 2, 0, 2]])
    assert combine(codes, 4).tolist() == [1, 2, 0, 2]
