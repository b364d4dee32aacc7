"""Every command: what it says of a known grid, its help, its mistakes."""

import json
import shutil
from itertools import product

import pytest

from gymspace.results.__main__ import COMMANDS, main, parsed
from gymspace.results.graphgym import import_graphgym
from tests.results.conftest import Sweep
from tests.results.graphgym_tables import controlled

READERS = [name for name in COMMANDS if COMMANDS[name].module.startswith("gymspace.terminal")]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_its_options_take(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert f"python -m gymspace.results {name} {COMMANDS[name].example}" in out
    assert parsed([name, *COMMANDS[name].example.split()])


ALONE = [name for name in READERS if name not in ("show", "compare", "importance")]
FORMS = [("rank", form) for form in ("csv", "latex", "markdown")]


@pytest.mark.parametrize(
    ("name", "form"), [*FORMS, *((name, form) for name in ALONE for form in ("json", None))]
)
def test_every_command_in_every_format(name, form, grid, ask):
    said = ask(name, grid, *([f"--{form}"] if form else []))
    assert said.code == 0
    assert said.out
    if form == "json":
        assert set(said.json) == {"about", "tables", "words"}
    if form is None:
        assert max(map(len, said.out.splitlines())) <= 80 or str(grid) in said.out


def test_show_takes_the_start_of_an_id(grid, ask):
    trial = next(p.name for p in (grid / "trials").iterdir() if "nan" in _result(p)["error"])
    said = ask("show", grid, trial[:8], "--where", "dataset=cora")
    assert said.out.startswith(f"{trial}  diverged: loss is nan")
    assert "result.json" in said.out
    assert "no such trial among 36" in ask("show", grid, "zz").err
    (grid / "trials" / "ffff").mkdir()
    assert "has not finished" in ask("show", grid, "ffff").err


def test_compare_says_what_would_settle_it(grid, ask):
    said = ask("compare", grid, "1", "2", "--task", "cora", "--json")
    assert said.code == 2  # skipsum at depth 6 has one repeat there
    assert "two repeats" in said.err
    said = ask("compare", grid, "1", "3", "--task", "cora", "--json")
    row = said.json["tables"]["difference"][0]
    assert row["difference"] == pytest.approx(0.0285)
    assert [pair["seed"] for pair in said.json["tables"]["pairs"]] == [0, 1]
    assert "left out: trials 1 diverged" in said.json["words"]


def test_compare_two_sweeps(grid, ask, tmp_path):
    shutil.copytree(grid, tmp_path / "again")
    said = ask("compare", grid, tmp_path / "again")
    assert "over 17 designs that both have" in said.out
    assert "no difference is seen" in said.out


def test_compare_says_by_what_sweeps_without_a_common_design_are_matched(ask, tmp_path):
    """Means over whatever else varies are no designs that both have."""
    one, other = (Sweep(tmp_path / name, seeds=[0], folds=[0]) for name in ("one", "other"))
    for stage, depth in product(("stack", "skipsum"), (2, 4)):
        one.add({"model.stage": stage, "model.layers_mp": depth}, val=[0.1 * depth])
    for depth in (2, 4):
        base = {"model": {"stage": "skipconcat"}}
        other.add({"model.layers_mp": depth}, base=base, val=[0.1 * depth])
    said = ask("compare", tmp_path / "one", tmp_path / "other")
    assert "over 2 choices that both have" in said.out
    assert "matched by layers_mp alone" in said.out


def test_importance_finds_the_planted_order(grid, ask):
    said = ask("importance", grid, "--json", "--method", "permutation", "--pairs")
    order = [row["dimension"] for row in said.json["tables"]["importance"]]
    assert order == ["model.layers_mp", "model.stage"]
    assert len(said.json["tables"]["pairs"]) == 1
    assert any("out-of-bag R2" in word for word in said.json["words"])


def test_similar_recommends_for_a_new_task(grid, ask):
    said = ask("similar", grid, "--anchors", "3", "--json")
    tables = said.json["tables"]
    assert len(tables["anchors"]) == 3
    assert {row["rank"] for row in tables["transfer"]} == {1}
    one = ask("similar", grid, "--new", grid)
    assert "--new" in one.err
    assert "several tasks" in one.err


def test_pareto_keeps_what_nothing_beats(grid, ask):
    rows = ask("pareto", grid, "--task", "digits", "--csv").rows
    assert [float(row["params"]) for row in rows] == [6000, 4000, 2000]
    assert {row["model.stage"] for row in rows} == {"stack"}


def test_curves_draw_each_design_with_its_own_mark(grid, ask):
    said = ask("curves", grid, "1", "2", "--task", "digits", "--column", "val_loss")
    lines = said.out.splitlines()
    drawn = [line for line in lines if "│" in line or "┤" in line]
    assert any("1" in line.partition("│")[2] for line in drawn)
    assert any("2" in line.partition("│")[2] for line in drawn)
    rows = ask("curves", grid, "--task", "digits", "--csv").rows
    assert {float(row["epoch"]) for row in rows} == {0, 1}
    assert "regret" in ask("curves", grid, "--regret").out


def test_the_first_places_are_not_taken_for_certain(grid, ask):
    words = ask("top", grid, "--task", "cora", "--json").json["words"]
    assert any("not told from the first" in word for word in words)
    assert any("no two repeats with the first" in word for word in words)


def test_another_metric_ranks_anew(grid, ask):
    best = ask("top", grid, "--task", "cora", "--metric", "loss", "--csv").rows
    losses = [float(row["val_loss_mean"]) for row in best]
    assert losses == sorted(losses)
    assert [row["rank"] for row in best] == [str(at) for at in range(1, 10)]


def test_imported_means_are_read_by_the_same_commands(tmp_path, ask):
    import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    assert "it is not known" in ask("top", tmp_path / "out").out
    said = ask("rank", tmp_path / "out", "--dimension", "epoch", "--json")
    ranks = [row["average_rank"] for row in said.json["tables"]["ranks"]]
    assert ranks == [3, 2, 1]
    assert "imported means have no curves" in ask("curves", tmp_path / "out").err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("rnk {}", "command=rnk: unknown, nor is it a folder; choices: top, rank"),
        ("rank {} --metric acuracy", "did you mean accuracy?"),
        ("rank {} --dimension stge", "did you mean stage?"),
        ("rank {} --where stage=stack --where l_mp=2", "nothing to rank"),
        ("rank {} --keep done,lost", "--keep=lost: no such status"),
        ("rank {} --task nope", "--task=nope: no such task; choices: cora, digits"),
        ("rank {} --tolerance -1", "tolerance=-1.0: must be 0 or more"),
        ("compare {} 1 2", "choose a task with --task"),
        ("compare {} 1 2 3", "two designs of a sweep, or two sweeps"),
        ("compare {} 1 1 --task cora", "both are the same design"),
        ("compare {} nowhere", "no such folder"),
        ("importance {} --pairs --method fanova", "needs --method permutation"),
        ("similar {} --task cora", "there is one task"),
        ("pareto {} --against parms", "did you mean params?"),
        ("pareto {} --against params:up", "neither :max nor :min"),
        ("curves {} --column val_auc", "no history of a trial has it"),
        ("top {} --rule last", "is for imported folders"),
        ("top {} --table nope", "no such table"),
        ("top {} --csv --json", "not allowed with"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(words, says, grid, ask):
    before = sorted(grid.rglob("*"))
    said = ask(*words.format(grid).split())
    assert (said.code, said.out) == (2, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert sorted(grid.rglob("*")) == before


def _result(path):
    result = json.loads((path / "result.json").read_text())
    return {**result, "error": result["error"] or ""}


def test_a_task_is_found_by_the_start_of_its_name(grid, ask):
    assert (
        ask("top", grid, "--task", "cor", "--csv").rows
        == ask("top", grid, "--task", "cora", "--csv").rows
    )
    assert "no such task" in ask("top", grid, "--task", "ora").err
