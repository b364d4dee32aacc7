"""Cells: what goes into a CSV comes out of it, value and type."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymspace.errors import ConfigError
from gymspace.results.cells import NULL, from_text, label, level, order, to_text
from gymspace.results.frames import frame, read_table
from gymspace.results.tables import Table
from gymspace.schema import Component

MISLEADING = ["null", "None", "NA", "nan", "1", "1e-05", "true", "True", "", " x", "[1]", '"']
SCALARS = st.one_of(
    st.none(),
    st.just(NULL),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.sampled_from(MISLEADING),
)
CELLS = st.one_of(SCALARS, st.lists(SCALARS.filter(lambda v: v is not None and v == v)).map(tuple))


@given(CELLS)
def test_cell_round_trip(cell):
    back = from_text(to_text(cell))
    assert type(back) is type(cell)
    assert order(back) == order(cell)


@given(st.lists(CELLS, min_size=1, max_size=5))
def test_column_round_trip(tmp_path_factory, cells):
    table = Table(("model.x",), tuple({"model.x": cell} for cell in cells))
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_text(table.csv(), encoding="utf-8", newline="")
    written, read = frame(table), read_table(path)
    assert read.dtypes.equals(written.dtypes)
    assert list(map(repr, read["model.x"])) == list(map(repr, written["model.x"]))


@pytest.mark.parametrize("text", ["null", "None", "NA", "1", "1e-05", "true", "", "nan", "007"])
def test_misleading_text_is_quoted(text):
    """Field case A3: text, and what it looks like, are two cells."""
    assert to_text(text) == f'"{text}"'
    assert from_text(to_text(text)) == text


@pytest.mark.parametrize("text", ["gat(heads=4)", "none", "ogbg-molhiv", "-0.5 to 1", "v1.2"])
def test_plain_text_stays_plain(text):
    """Field case A2: hyphens, dots and brackets need no quotes and are never parsed."""
    assert to_text(text) == text == from_text(text)


def test_small_learning_rate_keeps_its_value():
    """Field case A2: 1e-05 is a float before and after."""
    assert to_text(1e-05) == "1e-05"
    assert from_text("1e-05") == 1e-05


def test_nan_is_an_empty_cell():
    assert to_text(math.nan) == ""


def test_label_is_the_components_own():
    component = Component.model_validate({"name": "gat", "heads": 4, "concat": "yes"})
    assert label(component.model_dump()) == component.label == "gat(concat=yes, heads=4)"
    assert label({"name": "gat"}) == "gat"


def test_labels_tell_types_apart():
    """Field case A3: True and 'True', None and 'None' as arguments."""
    values = (True, "True", "true", None, "None", "null", 1, "1", 1.0)
    assert len({label({"name": "gat", "x": value}) for value in values}) == len(values)


def test_null_equals_only_itself_and_sorts_first():
    assert level(None) is NULL
    assert NULL != "null"
    assert sorted([0.5, NULL, -1]) == [NULL, -1, 0.5]
    assert sorted(["a", NULL])[0] is NULL


def test_unreadable_table(tmp_path: Path):
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    with pytest.raises(ConfigError, match="not a readable table"):
        read_table(tmp_path / "bad.csv")
