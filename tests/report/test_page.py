"""What a report says: every section that applies, and why the others are not there."""

import json
import re

import pytest

from gymspace.errors import ConfigError
from gymspace.report.compose import compose
from gymspace.report.page import render, write_report
from gymspace.results.__main__ import main
from gymspace.results.graphgym import import_graphgym
from gymspace.results.read import read_sweep
from gymspace.results.view import load_view
from tests.report.conftest import grid_folder
from tests.results.graphgym_tables import controlled


def page(folder, **options):
    return compose(load_view(folder), read_sweep(folder), **options)


def section(found, key):
    return next(section for section in found.sections if section.key == key)


def embedded(html, id):
    return json.loads(re.search(rf'id="{id}">(.*?)</script>', html)[1])


def test_every_section_of_a_grid(grid):
    found = page(grid)
    keys = [section.key for section in found.sections]
    assert keys == [
        "leaderboard", "choices", "importance", "trade-offs", "designs", "curves", "failures",
        "made",
    ]  # fmt: skip
    assert found.missing == ()
    assert found.facts == ("9 designs", "28 trials: 27 done, 1 failed, 1 unfinished")
    assert found.best[0] == ("best design", "stage=stack l_mp=6")


def test_what_the_figures_rest_on_is_said(grid):
    """Field case B5: used and dropped groups are counted beside the figure."""
    found = page(grid)
    stage, _ = section(found, "choices").panels
    assert stage.words[0] == "3 groups ranked."
    assert "Friedman: p" in stage.words[1]
    assert section(found, "importance").panels[0].words[0].startswith("From 9 designs; out-of-bag")
    assert "1 trial had no result when this page was written." in found.warnings
    assert any("1 trial failed is left out" in words for words in found.warnings)


def test_incomplete_groups_are_counted(grid, tmp_path):
    """Field case B5."""
    made = grid_folder(tmp_path / "partial")
    for record in load_view(made.folder).records:
        if record["choices"] == {"model.stage": "stack", "model.layers_mp": 6}:
            (made.folder / "trials" / record["trial"] / "result.json").unlink()
    stage, _ = section(page(made.folder), "choices").panels
    assert stage.words[0] == "2 groups ranked; 1 incomplete dropped."


def test_the_leaderboard_has_the_best_design_first(grid):
    board = section(page(grid), "leaderboard").data
    titles = [column["title"] for column in board["columns"]]
    assert titles == [
        "rank", "curves", "val accuracy", "test accuracy", "stage", "l_mp", "seeds", "failed",
        "params", "seconds", "design",
    ]  # fmt: skip
    first = dict(zip(titles, board["rows"][0], strict=True))
    assert (first["rank"], first["stage"], first["l_mp"]) == (1, "stack", 6)
    assert first["val accuracy"][1] > 0
    assert len(board["rows"]) == 9


def test_rows_link_to_the_curves_that_are_there(grid):
    found = page(grid)
    links = [row[1] for row in section(found, "leaderboard").data["rows"]]
    curves = section(found, "curves")
    assert links == list(curves.data)
    panel = curves.panels[0]
    assert (panel.title, {trace.meta for trace in panel.figure.data}) == ("val accuracy", {*links})


def test_text_of_the_trials_stays_text(grid):
    html = render(page(grid))
    assert "alert(1)</script> loss" not in html
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; loss is NaN" in html
    assert embedded(html, "board-data")["columns"]


def test_nothing_is_fetched(grid):
    html = render(page(grid))
    assert "default-src 'none'" in html
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html) == []


def test_several_tasks_are_ranked_apart(tmp_path):
    found = page(grid_folder(tmp_path / "tasks", datasets=("digits", "cora"), seeds=(0,)).folder)
    board = section(found, "leaderboard").data
    assert {row[2] for row in board["rows"]} == {"digits", "cora"}
    assert len(section(found, "designs").panels) == 2
    assert section(found, "choices").panels[0].sheets[1].title == "Average ranks per task"
    assert any("one repeat" in words for words in found.warnings)


def test_one_design_has_a_board_and_curves(sweep):
    study = sweep()
    for seed in (0, 1):
        study.add(seed=seed, val=[0.1, 0.5])
    found = page(study.folder)
    assert [one.key for one in found.sections] == ["leaderboard", "curves", "failures", "made"]
    assert "nothing varies" in found.missing[0]


def test_a_sweep_of_failures_says_why(sweep):
    study = sweep()
    for seed in (0, 1):
        study.add({"model.layers_mp": 2}, seed=seed, status="failed", error="boom", metric=None)
    found = page(study.folder)
    assert section(found, "failures").sheets[0].rows[0][:3] == ("2", "failed", "boom")
    assert "no trial was measured" in found.missing[0]
    assert render(found)


def test_an_imported_folder_has_no_curves(tmp_path):
    import_graphgym(controlled(tmp_path / "run"), tmp_path / "x", metrics=["auc", "accuracy"])
    found = page(tmp_path / "x")
    assert "choices" in [one.key for one in found.sections]
    assert any("Learning curves" in sentence for sentence in found.missing)
    assert any(words.startswith("import: ") for words in found.warnings)
    titles = [column["title"] for column in section(found, "leaderboard").data["columns"]]
    assert titles[:4] == ["rank", "task", "metric", "val score"]


def test_of_very_many_designs_the_best_are_shown(grid, monkeypatch):
    monkeypatch.setattr("gymspace.report.board.MOST", 4)
    monkeypatch.setattr("gymspace.report.curves.MOST", 2)
    monkeypatch.setattr("gymspace.report.choices._LINES", 4)
    monkeypatch.setattr("gymspace.report.choices._POINTS", 4)
    found = page(grid)
    board = section(found, "leaderboard")
    assert [row[0] for row in board.data["rows"]] == [1, 2, 3, 4]
    assert "The best 4 of 9 designs" in board.words[1]
    assert "The best 2 of 9 designs" in " ".join(section(found, "curves").words)
    assert section(found, "designs").panels[0].words[0].startswith("4 of 9 designs: the best 2")
    assert "drawn at random" in " ".join(section(found, "trade-offs").panels[0].words)


def test_the_figures_rest_on_a_metric_that_was_asked_for(grid):
    found = page(grid, metric="loss")
    assert "by loss, as asked" in found.warnings[0]
    figure = section(found, "trade-offs").panels[0].figure
    assert figure.layout.yaxis.title.text == "val loss"
    with pytest.raises(ConfigError, match=r"^metric=nope: no such metric; choices: loss"):
        page(grid, metric="nope")


def test_the_command_says_where_it_is(grid, tmp_path, capsys):
    assert main(["report", str(grid), "--to", str(tmp_path / "x.html")]) == 0
    assert capsys.readouterr().out.startswith(f"written: {tmp_path / 'x.html'} (2.")
    assert main(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("is not a sweep's folder: it has no trials/\n")


def test_nothing_finished_is_told(sweep):
    study = sweep()
    (study.folder / "trials" / "x").mkdir()
    with pytest.raises(ConfigError, match=r"no finished trial yet \(1 unfinished\)"):
        write_report(study.folder)
    assert {path.name for path in study.folder.iterdir()} == {"trials", "sweep.json"}


def test_a_place_that_cannot_be_written_is_told(grid, tmp_path):
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        write_report(grid, tmp_path / "no" / "report.html")
    assert write_report(grid, tmp_path / "x.html").stat().st_size < 4 * 2**20
    assert not (grid / "report.html").exists()


def test_ranges_are_told_and_shown_as_numbers(sweep):
    lr = {"key": "optim.lr", "choices": [], "alias": None}
    lr["range"] = {"low": 0.001, "high": 0.1, "kind": "float", "log": True, "step": None}
    goals = [["val_accuracy", "maximize"], ["params", "minimize"]]
    study = sweep(space=[lr], objectives=goals)
    for at, rate in enumerate((0.0012345678901234, 0.03456789012345, 0.1)):
        study.add({"optim.lr": rate}, val=[0.5 + at / 10])
    found = page(study.folder)
    assert section(found, "made").sheets[0].rows == [("optim.lr", "", "0.001 .. 0.1 (log)")]
    axis = section(found, "designs").panels[0].figure.data[0].dimensions[0]
    assert max(map(len, axis.ticktext)) < 8
    board = section(found, "leaderboard").data
    columns = {column["title"]: column for column in board["columns"]}
    assert columns["lr"]["choices"] == []
    assert [row[1] for row in board["rows"]] == ["*", "", ""]
    assert list(columns)[1] == "front"
