import json

import pytest

from gymspace.records import read_json, write_atomic, write_json


def test_json_comes_back_as_it_went_with_nan_and_infinity_as_null(scratch):
    path = scratch / "result.json"
    write_json(path, {"a": [1, 1e-5, None, True], "b": {"c": float("nan")}, "d": (-float("inf"),)})
    assert read_json(path) == {"a": [1, 1e-5, None, True], "b": {"c": None}, "d": [None]}
    assert [p.name for p in scratch.iterdir()] == ["result.json"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(scratch):
    path = scratch / "result.json"
    write_json(path, {"a": 1})

    def half(part):
        part.write_text('{"a": ')
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, half)
    assert read_json(path) == {"a": 1}
    assert [p.name for p in scratch.iterdir()] == ["result.json"]


def test_the_file_is_whole_from_the_moment_it_is_there(scratch):
    path, seen = scratch / "result.json", []

    def write(part):
        part.write_text("{}")
        seen.append((path.exists(), part.parent))

    write_atomic(path, write)
    assert seen == [(False, scratch)]
    assert path.exists()


@pytest.mark.parametrize("text", [None, "", '{"a": 1', "[1]", "null", "\x00\x00"])
def test_a_missing_or_cut_off_file_is_none(scratch, text):
    """Field case B6: a truncated result is no result."""
    path = scratch / "result.json"
    if text is not None:
        path.write_text(text)
    assert read_json(path) is None


def test_what_json_cannot_hold_is_an_error_not_a_file(scratch):
    with pytest.raises(TypeError):
        write_json(scratch / "result.json", {"a": object()})
    assert list(scratch.iterdir()) == []


def test_numbers_keep_every_digit(scratch):
    value = 0.1 + 0.2
    write_json(scratch / "a.json", {"a": value})
    assert json.loads((scratch / "a.json").read_text())["a"] == value
