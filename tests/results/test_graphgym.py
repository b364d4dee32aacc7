"""GraphGym's tables as input: what they mean, what is repaired, what is said."""

import json
import math

import pytest

from gymspace.errors import ConfigError
from gymspace.results.__main__ import main
from gymspace.results.cells import NULL
from gymspace.results.graphgym import import_graphgym
from gymspace.results.view import load_view
from tests.results.graphgym_tables import controlled, nine

DESIGN_V1 = "graphgym_results/design_v1_grid_round1"
EXAMPLE = "graphgym_results/pyg/example_node_grid_example"


def board(folder, rule=None):
    return load_view(folder, rule).leaderboard.rows


def test_a_swept_epoch_is_told_from_the_last_epoch(tmp_path):
    """Field case A4: one column `epoch` held a choice and a result; both are kept, apart."""
    said = import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    rows = load_view(tmp_path / "out").trials.rows
    assert {row["epoch"] for row in rows} == {100, 200, 400}
    assert {row["val_epoch"] for row in rows} == {99, 199, 399}
    assert "epoch is the last epoch and a swept number of epochs" in " ".join(said)


def test_names_of_results_and_of_choices_stay_apart(tmp_path):
    """Field case A4: GraphGym's column `task` is a choice, ours is what is to be learnt."""
    import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    view = load_view(tmp_path / "out")
    assert {row["choice.task"] for row in view.trials.rows} == {"node", "link"}
    assert {row["task"] for row in view.trials.rows} == {"cora node", "ddi link node_const"}
    assert view.task_columns == ["dataset", "choice.task", "feature"]


def test_a_row_without_a_loss_has_no_rank(tmp_path):
    """Field case B4: it has an accuracy all the same; it is kept, with a status and a reason."""
    said = import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    diverged = [row for row in board(tmp_path / "out") if row["status"] == "diverged"]
    assert [row.get("rank") for row in diverged] == [None]
    assert "1 rows have no loss" in " ".join(said)
    assert [r["error"] for r in load_view(tmp_path / "out").records if r["error"]] == [
        "no loss in val"
    ]


def test_missing_and_partial_groups_are_counted(tmp_path):
    """Field case B5."""
    said = import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    assert said[-2:] == ["act: 1 of 3 groups is missing", "act: 1 of 2 groups is partial"]


def test_each_task_is_ranked_by_its_own_metric(tmp_path):
    import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    by = {r["task"]: r["metric"] for r in load_view(tmp_path / "out").records}
    assert by == {"ddi link node_const": "auc", "cora node": "accuracy"}
    first = [row for row in board(tmp_path / "out") if row.get("rank") == 1]
    assert [row["val_auc_mean"] for row in first if row["task"].startswith("ddi")] == [0.899]


def test_a_place_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="below a file"):
        import_graphgym(nine(tmp_path / "in"), tmp_path / "file" / "a" / "b")


def test_the_nine_tables_become_three_rules(tmp_path):
    """Field case B3: a test score whose epoch was chosen on the test split is left out."""
    said = import_graphgym(nine(tmp_path / "in"), tmp_path / "out", seeds=3)
    best, last, bestepoch = (board(tmp_path / "out", r) for r in ("best", "last", "bestepoch"))
    assert [rows[0]["val_accuracy_mean"] for rows in (best, last, bestepoch)] == [
        0.644,
        0.643,
        0.645,
    ]
    assert best[0]["test_accuracy_mean"] == 0.647
    assert bestepoch[0]["test_accuracy_mean"] is None
    assert [row["l_mp"] for row in best] == [4, 2, 4, 2]
    assert "chose its epochs on the test split" in " ".join(said)


def test_spreads_are_converted_only_where_the_repeats_are_known(tmp_path):
    import_graphgym(nine(tmp_path / "in"), tmp_path / "three", seeds=3)
    import_graphgym(tmp_path / "in", tmp_path / "unknown")
    known, unknown = board(tmp_path / "three")[0], board(tmp_path / "unknown")[0]
    assert math.isclose(known["val_accuracy_std"], 0.02 * math.sqrt(3 / 2))
    assert (known["n_seeds"], unknown["n_seeds"]) == (3, None)
    assert unknown["val_accuracy_popstd"] == 0.02
    assert "val_accuracy_std" not in unknown


def test_null_and_empty_choices_survive(tmp_path):
    """Field case B7: None is a choice, a blank is none, "nan" is text."""
    rows = ["None", "", "nan", "True"]
    lines = [f"{cell},stack,9,0.1,0,10.0,0,0,0.5,0" for cell in rows]
    head = "act,stage,epoch,loss,loss_std,params,time_iter,time_iter_std,accuracy,accuracy_std"
    (tmp_path / "val.csv").write_text("\n".join([head, *lines]) + "\n")
    import_graphgym(tmp_path / "val.csv", tmp_path / "out")
    cells = [row["act"] for row in load_view(tmp_path / "out").trials.rows]
    assert cells == [NULL, None, "nan", True]
    assert len({row["design"] for row in board(tmp_path / "out")}) == 4


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("val.csv", "a,b\n1,2\n", "no epoch"),
        ("val.csv", "epoch,loss\n1,2\n", "no design"),
        ("val.csv", "a,epoch,loss\n1,2\n", "not a readable table"),
        ("val.csv", "", "not a readable table"),
        ("other.csv", "a,epoch,loss\n1,2,3\n", "none of GraphGym's tables"),
    ],
)
def test_what_is_no_table_of_graphgyms_is_refused(tmp_path, file, text, problem):
    (tmp_path / file).write_text(text)
    with pytest.raises(ConfigError, match=problem):
        import_graphgym(tmp_path / file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten(tmp_path):
    folder = nine(tmp_path / "in")
    before = {path: path.read_bytes() for path in folder.rglob("*.csv")}
    with pytest.raises(ConfigError, match="there already"):
        import_graphgym(folder, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_damaged_import_is_told(tmp_path):
    import_graphgym(nine(tmp_path / "in"), tmp_path / "out")
    (tmp_path / "out" / "imported.csv").unlink()
    with pytest.raises(ConfigError, match="not a readable table"):
        load_view(tmp_path / "out")
    (tmp_path / "out" / "sweep.json").write_text('{"imported": {}}')
    with pytest.raises(ConfigError, match=r"sweep.json is damaged"):
        load_view(tmp_path / "out")


def test_tables_that_do_not_fit_together_are_refused(tmp_path):
    folder = nine(tmp_path / "in")
    file = folder / "agg" / "test.csv"
    file.write_text(file.read_text().replace("l_mp", "l_pre"))
    with pytest.raises(ConfigError, match="other design columns"):
        import_graphgym(folder, tmp_path / "out")


def test_the_command_writes_a_folder_that_the_terminal_shows(tmp_path, capsys):
    arguments = ["import", str(nine(tmp_path / "in")), "--to", str(tmp_path / "out")]
    assert main([*arguments, "--seeds", "3"]) == 0
    assert "9 tables read: 4 means" in capsys.readouterr().out
    assert main([str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "4 means over repeats: 4 done" in shown
    assert "best on validation" in shown
    assert main(["import", str(tmp_path / "in"), "--to", str(tmp_path / "out")]) == 2
    assert json.loads((tmp_path / "out" / "sweep.json").read_text())["imported"]["seeds"] == 3


def test_the_faults_of_the_published_study_are_said(shared_data, tmp_path):
    """Field cases B4, B5, on GraphGym's own tables."""
    said = import_graphgym(shared_data / DESIGN_V1, tmp_path / "out")
    assert said[1] == "63 rows have no loss: taken for diverged, kept out of rankings"
    assert said[-6:] == [
        "l_mp: 5 of 96 groups are missing",
        "act: 2 of 96 groups are partial",
        "drop: 2 of 96 groups are missing",
        "agg: 1 of 96 groups is missing",
        "lr: 1 of 96 groups is missing",
        "lr: 2 of 95 groups are partial",
    ]
    assert sum(row["status"] == "done" for row in board(tmp_path / "out")) == 3323 - 63


def test_the_example_grid_is_ranked_at_its_best_epochs(shared_data, tmp_path):
    import_graphgym(shared_data / EXAMPLE, tmp_path / "out", seeds=3)
    first = board(tmp_path / "out")[0]
    assert (first["val_accuracy_mean"], first["test_accuracy_mean"]) == (0.766, 0.77)
    assert len(board(tmp_path / "out")) == 36
