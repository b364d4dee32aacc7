"""Packing rows as columns: whatever goes in comes out, with its type."""

import json

from hypothesis import given
from hypothesis import strategies as st

from gymspace.results.cells import NULL
from gymspace.results.packed import Later, pack, pack_table, unpack, unpack_table
from gymspace.results.tables import Table

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ROWS = st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES | st.lists(VALUES)))


def typed(value):
    return repr(value) if not isinstance(value, dict) else {k: repr(v) for k, v in value.items()}


@given(ROWS)
def test_rows_come_back_as_they_were(rows):
    """1, 1.0 and True are three values; a row that lacks a key goes on lacking it."""
    found = unpack(json.loads(json.dumps(pack(rows))))
    assert list(map(typed, found)) == list(map(typed, rows))


def test_equal_parts_come_back_as_one_object():
    part = {"lr": 0.1}
    first, second = unpack(json.loads(json.dumps(pack([{"optim": part}, {"optim": part}]))))
    assert first["optim"] is second["optim"]


def test_cells_of_a_table_come_back():
    """Field case B7: null, "null", True, 1 and an empty cell are five choices."""
    cells = [NULL, "null", True, 1, None, 1.5, "", (1, NULL), "a\nb"]
    table = Table(("x", "design"), tuple({"x": c, "design": "12e4", "task": "1"} for c in cells))
    rows = unpack_table(json.loads(json.dumps(pack_table(table))))
    assert [typed(row["x"]) for row in rows] == list(map(typed, cells))
    assert {(row["design"], row["task"]) for row in rows} == {("12e4", "1")}


def test_later_makes_its_items_when_one_is_asked_for():
    made = []
    later = Later(2, lambda: made.append("once") or ["a", "b"])
    assert (len(later), made) == (2, [])
    assert (later[1], list(later), made) == ("b", ["a", "b"], ["once"])
