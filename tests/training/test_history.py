"""The history file while it is written."""

from gymspace.training.history import History


def test_a_row_is_in_the_file_as_soon_as_it_is_added(tmp_path):
    path = tmp_path / "history.csv"
    with History(path) as history:
        history.add({"epoch": 0, "val_loss": 0.1})
        assert path.read_text() == "epoch,val_loss\n0,0.1\n"
        history.add({"epoch": 1, "val_loss": float("nan")})
        assert path.read_text() == "epoch,val_loss\n0,0.1\n1,nan\n"
    assert [row["epoch"] for row in history.rows] == [0, 1]


def test_numbers_come_back_as_they_were(tmp_path):
    value = 0.1 + 0.2
    with History(tmp_path / "history.csv") as history:
        history.add({"x": value, "tiny": 1e-17})
    cells = (tmp_path / "history.csv").read_text().splitlines()[1].split(",")
    assert [float(cell) for cell in cells] == [value, 1e-17]


def test_an_earlier_attempt_is_begun_anew(tmp_path):
    for value in (1, 2):
        with History(tmp_path / "history.csv") as history:
            history.add({"epoch": 0, "value": value})
    assert (tmp_path / "history.csv").read_text() == "epoch,value\n0,2\n"


def test_rows_kept_in_memory_do_not_change_with_the_caller_s(tmp_path):
    row = {"epoch": 0}
    with History(tmp_path / "history.csv") as history:
        history.add(row)
        row["epoch"] = 7
    assert history.rows == [{"epoch": 0}]
