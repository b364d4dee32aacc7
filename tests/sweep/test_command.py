"""A command from its config to its exit code and its tables, with a launcher that is a script."""

import csv
from io import StringIO

import pytest
from rich.console import Console

from gymspace.dist.jobs import Done, Failed, TimedOut
from gymspace.errors import ConfigError
from gymspace.sweep.command import Command, execute
from gymspace.sweep.settings import split_config
from gymspace.sweep.spaces.space import parse_space
from gymspace.terminal.top import summary
from tests.sweep.launchers import Script, done, result

SPACE = {"model.layers_mp": [1, 2, 3]}


def command(tmp_path, space=SPACE, config=None, **sweep):
    given = {"results": str(tmp_path), "sweep": {"name": "s", **sweep}, **(config or {})}
    plain, settings = split_config(given)
    return Command("text", plain, settings, parse_space(space), {}, lambda chosen: plain)


def run(asked, launch=None):
    out = StringIO()
    code = execute(asked, launch or Script(), Console(file=out, width=200), summary)
    return code, out.getvalue()


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_command_leaves_its_tables_and_says_what_came_of_it(tmp_path):
    code, text = run(command(tmp_path, seeds=2))
    assert code == 0
    assert len(rows(tmp_path / "s" / "trials.csv")) == 6
    board = rows(tmp_path / "s" / "leaderboard.csv")
    assert [(r["rank"], r["model.layers_mp"], r["n_seeds"]) for r in board] == [
        ("1", "1", "2"), ("2", "2", "2"), ("3", "3", "2"),
    ]  # fmt: skip
    assert "6 trials" in text
    assert "[6/6] done" in text


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (done, 0),
        (lambda spec: Done(result(spec, status="diverged", error="loss is nan")), 0),
        (lambda spec: Failed("ValueError: no", "Traceback"), 1),
        (lambda spec: TimedOut(1.0), 1),
    ],
    ids=["done", "diverged", "failed", "timeout"],
)
def test_the_exit_code_says_that_something_failed(tmp_path, outcome, code):
    def answer(spec):
        return outcome(spec) if spec.model.layers_mp == 2 else done(spec)

    assert run(command(tmp_path), Script(answer))[0] == code
    assert len(rows(tmp_path / "s" / "trials.csv")) == 3


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    def answer(spec):
        if spec.model.layers_mp == 2:
            raise KeyboardInterrupt
        return done(spec)

    code, text = run(command(tmp_path), Script(answer))
    assert code == 130
    assert "the same command runs the rest" in text
    assert [r["model.layers_mp"] for r in rows(tmp_path / "s" / "trials.csv")] == ["1"]
    script = Script()
    assert run(command(tmp_path), script)[0] == 0
    assert [s.model.layers_mp for s in script.ran] == [2, 3]


def test_a_dry_run_says_what_would_run_and_touches_nothing(tmp_path):
    script = Script()
    code, text = run(command(tmp_path, seeds=3, dry=True), script)
    assert (code, len(script.ran), list(tmp_path.iterdir())) == (0, 1, [])
    assert text.splitlines()[:-1] == [
        "3 designs, 9 trials; the first designs:",
        "  model.layers_mp=1",
        "  model.layers_mp=2",
        "  model.layers_mp=3",
        f"they would go to {tmp_path / 's'}",
    ]


def test_a_mistake_leaves_the_folder_as_it_was(tmp_path):
    run(command(tmp_path))
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}

    def look(spec):
        return Failed("model.dim_inner=9: no such width", "", "model.dim_inner")

    wider = command(tmp_path, {"model.layers_mp": [1, 9]}, seeds=2)
    with pytest.raises(ConfigError, match="no such width"):
        run(wider, Script(inspect=look))
    left = [p for p in before if p.stat().st_mtime_ns != before[p] and p.name != ".lock"]
    assert left == []


@pytest.mark.parametrize("dry", [True, False])
def test_a_column_of_two_keys_is_found_before_the_first_trial(tmp_path, dry):
    space = {"model.layers_mp": {"choices": [1, 2], "alias": "loss"}}
    with pytest.raises(ConfigError, match="is a result column"):
        run(command(tmp_path, space, dry=dry))
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_an_earlier_command_took_is_found_as_well(tmp_path):
    run(command(tmp_path, {"model.layers_mp": {"choices": [1, 2], "alias": "n"}}))
    script = Script()
    with pytest.raises(ConfigError, match=r"is the column of model\.layers_"):
        run(command(tmp_path, {"model.layers_pre_mp": {"choices": [1], "alias": "n"}}), script)
    assert script.places == []


def test_a_base_that_is_no_trial_is_told(tmp_path):
    with pytest.raises(ConfigError, match="must be a whole number"):
        run(command(tmp_path, config={"model": {"layers_mp": "2"}}))


def test_the_order_of_finishing_does_not_show_in_the_tables(tmp_path):
    reversed_space = {"model.layers_mp": [3, 2, 1]}
    run(command(tmp_path / "one"))
    run(command(tmp_path / "two", reversed_space, seeds=1))
    names = ["trials.csv", "agg/val_best.csv", "agg/test_bestepoch.csv", "leaderboard.csv"]
    one, two = (tmp_path / which / "s" for which in ("one", "two"))
    assert [(one / name).read_bytes() for name in names] == [
        (two / name).read_bytes() for name in names
    ]


def test_two_sweeps_in_one_folder_are_kept_apart_in_one_table(tmp_path):
    run(command(tmp_path, {"model.layers_mp": [1, 2]}))
    run(command(tmp_path, {"optim.lr": [0.1, 0.2]}, extend=True))
    board = rows(tmp_path / "s" / "leaderboard.csv")
    assert sorted((r["model.layers_mp"], r["optim.lr"]) for r in board) == [
        ("1", "0.01"), ("2", "0.01"), ("2", "0.1"), ("2", "0.2"),
    ]  # fmt: skip
