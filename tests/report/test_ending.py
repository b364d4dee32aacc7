"""The report at the end of a sweep: written once for the same results, never in the way."""

from gymspace.report import ending, page
from tests.report.conftest import grid_folder


def test_it_is_written_anew_only_for_other_results(tmp_path, monkeypatch):
    made = grid_folder(tmp_path / "grid", seeds=(0,))
    assert ending.write_at_end(made.folder) == ""
    assert page.is_current(made.folder)
    monkeypatch.setattr(ending, "write_report", None)
    assert ending.write_at_end(made.folder) == ""
    made.add({"model.stage": "stack"}, seed=3)
    assert not page.is_current(made.folder)
    assert ending.write_at_end(made.folder).startswith("the report was not written: TypeError: ")


def test_what_goes_wrong_is_one_line(tmp_path, monkeypatch):
    def broken(folder):
        raise ValueError("two\nlines")

    monkeypatch.setattr(ending, "write_report", broken)
    assert ending.write_at_end(tmp_path) == "the report was not written: ValueError: two lines"
