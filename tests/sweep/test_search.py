"""A search from its command to its tables, with a launcher that is a script and a real study."""

import csv
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from gymspace.dist.jobs import Done, Failed
from gymspace.errors import ConfigError
from gymspace.records import read_json
from gymspace.sweep.command import Command, execute
from gymspace.sweep.hold import hold, share
from gymspace.sweep.settings import split_config
from gymspace.sweep.spaces.space import constrain, parse_space
from gymspace.terminal.top import summary
from tests.sweep.launchers import Room, apart, done, result

SPACE = {"model.layers_mp": [1, 2, 3], "model.stage": ["stack", "skipsum"]}
LOST = Failed("rank 0 died: killed by signal 9", "", kind="lost")
MEMORY = Failed("MemoryError: ", "", kind="memory")


def command(tmp_path, space=SPACE, n_trials=100, config=None, **sweep):
    """A search; random unless ``sampler`` says otherwise."""
    sweep = {"name": "s", "sampler": "random", **sweep}
    sweep |= {"draw": {"name": "optuna", "n_trials": n_trials}}
    given = {"results": str(tmp_path), "sweep": sweep, "train": {"epochs": 3}, **(config or {})}
    plain, settings = split_config(given)
    found = constrain(parse_space(space), settings.sweep.constraints, plain)
    return Command("text", plain, settings, found, {}, lambda chosen: plain)


def run(asked, launch=None):
    out = StringIO()
    room = launch or Room()
    code = execute(asked, room, Console(file=out, width=200), summary)
    return code, out.getvalue(), room


def board(tmp_path):
    with (tmp_path / "s" / "leaderboard.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_search_ends_with_as_many_designs_as_were_asked_for(tmp_path):
    code, text, room = run(command(tmp_path, n_trials=4, seeds=2))
    assert code == 0
    assert len({(s.model.layers_mp, s.model.stage.name) for s in room.ran}) == 4
    assert [(r["rank"], r["n_done"]) for r in board(tmp_path)] == [
        (str(n), "2") for n in range(1, 5)
    ]
    assert "4 designs\n" in text
    about = read_json(tmp_path / "s" / "sweep.json")
    assert about["objectives"] == [["val_accuracy", "maximize"]]
    assert (about["sampler"], about["pruner"]) == ("random", "none")


def test_the_same_command_again_starts_nothing(tmp_path):
    run(command(tmp_path, n_trials=3))
    code, text, room = run(command(tmp_path, n_trials=3))
    assert (code, room.places) == (0, [])
    assert "3 designs, 3 of them finished before" in text


def test_more_designs_go_on_from_those_that_are_there(tmp_path):
    _, _, first = run(command(tmp_path, n_trials=2))
    _, _, room = run(command(tmp_path, n_trials=5))
    assert len(room.ran) == 3
    seen = {(s.model.layers_mp, s.model.stage.name) for s in (*first.ran, *room.ran)}
    assert len(seen) == len(board(tmp_path)) == 5


@pytest.mark.parametrize("sampler", ["random", "tpe", "brute_force"])
def test_an_exhausted_space_ends_a_search_well(tmp_path, sampler):
    code, text, room = run(command(tmp_path, sampler=sampler))
    assert (code, len(room.ran)) == (0, 6)
    assert "6 of 100 designs are settled: the space holds no more" in text
    assert run(command(tmp_path, sampler=sampler))[2].ran == []


def test_what_was_interrupted_is_taken_up_again(tmp_path):
    """Field case G5: killed in trial 1, then resumed: each design once."""

    def answer(spec):
        if spec.seed == 1:
            raise KeyboardInterrupt
        return done(spec)

    asked = command(tmp_path, n_trials=3, seeds=2)
    assert run(asked, Room(run=answer))[0] == 130
    code, _, room = run(asked)
    assert code == 0
    assert [s.seed for s in room.ran].count(0) == 1
    assert [r["n_done"] for r in board(tmp_path)] == ["2"] * 3


def test_a_mistake_is_told_before_anything_is_written(tmp_path):
    wrong = {**SPACE, "model.dim_inner": [4, 9]}

    def look(spec):
        bad = spec.model.dim_inner == 9
        return Failed("model.dim_inner=9: no", "", "model.dim_inner") if bad else apart(spec)

    with pytest.raises(ConfigError, match="no"):
        run(command(tmp_path, wrong), Room(inspect=look))
    assert [path.name for path in tmp_path.glob("s/*")] == [".lock"]


MISTAKES = [
    ({"objectives": ["val_accuracy", "params"], "pruner": "median"}, "sweep.objectives"),
    ({"objectives": ["params"], "pruner": "median"}, "sweep.pruner=median: hears val_accuracy"),
    ({"objectives": ["test_accuracy"]}, "the test split has no say"),
    ({"objectives": ["val_acuracy"]}, "did you mean val_accuracy?"),
    ({"space": {"dist.ranks": [1, 2]}}, "sweep.space.dist.ranks: is how a trial is run"),
    ({"space": {"model.layer": ["gcn", "gatt"]}}, "did you mean gat?"),
    ({"storage": "sqlite:///x.db"}, "sweep.storage"),
]


@pytest.mark.parametrize(("sweep", "line"), MISTAKES)
def test_what_cannot_be_searched_is_told_in_one_line(tmp_path, sweep, line):
    with pytest.raises(ConfigError) as error:
        run(command(tmp_path, **sweep))
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_another_space_or_objective_under_the_same_name_is_refused(tmp_path):
    """Field case G8: a study reopened with another direction or another space."""
    run(command(tmp_path, n_trials=1))
    wider = command(tmp_path, {**SPACE, "model.layers_mp": [1, 2, 3, 4]}, n_trials=2)
    with pytest.raises(ConfigError, match="space"):
        run(wider)
    with pytest.raises(ConfigError, match=r'objectives=."val_accuracy".*not ."params"'):
        run(command(tmp_path, n_trials=2, objectives=["params"]))
    sweep = wider.settings.sweep.model_copy(update={"extend": True})
    settings = wider.settings.model_copy(update={"sweep": sweep})
    assert len(run(replace(wider, settings=settings))[2].ran) == 1


def test_several_objectives_have_a_front(tmp_path):
    def answer(spec):
        return Done(
            result(spec, params=10 * spec.model.layers_mp if spec.model.layers_mp < 3 else 5)
        )

    goals = ["val_accuracy", "params"]
    run(command(tmp_path, {"model.layers_mp": [1, 2, 3]}, objectives=goals), Room(run=answer))
    told = [(r["rank"], r["pareto"], r["model.layers_mp"]) for r in board(tmp_path)]
    assert told == [("1", "true", "1"), ("2", "false", "2"), ("3", "true", "3")]


def test_a_pruned_design_keeps_its_repeats_and_has_no_rank(tmp_path):
    rule = {"name": "percentile", "percentile": 1.0, "n_startup_trials": 1, "n_warmup_steps": 2}
    asked = command(tmp_path, {"model.layers_mp": [1, 2, 3, 4, 5]}, seeds=2, pruner=rule)
    run(asked, Room(slots=1))
    rows = board(tmp_path)
    given_up = [r for r in rows if r["n_pruned"] != "0"]
    assert given_up
    assert all(r["rank"] == "" and r["n_done"] == "1" for r in given_up)
    assert all(r["n_done"] == "2" for r in rows if r["rank"])


def test_failures_of_their_own_fault_are_run_again_if_asked(tmp_path):
    def answer(spec):
        return MEMORY if spec.model.layers_mp == 2 else done(spec)

    space = {"model.layers_mp": [1, 2, 3]}
    assert run(command(tmp_path, space), Room(run=answer))[0] == 1
    assert run(command(tmp_path, space))[2].ran == []
    code, _, room = run(command(tmp_path, space, retry="failed"))
    assert code == 0
    assert [s.model.layers_mp for s in room.ran] == [2]


def test_constraints_on_keys_and_on_size_are_met(tmp_path):
    texts = ["model.layers_mp != 2", "params <= 7"]
    _, _, room = run(command(tmp_path, constraints=texts))
    assert {s.model.layers_mp for s in room.ran} == {1, 3}


def test_searches_share_a_folder_and_a_grid_keeps_away(tmp_path):
    with share(tmp_path), share(tmp_path), pytest.raises(ConfigError, match="is held by"):  # noqa: SIM117
        with hold(tmp_path):
            pass
    with hold(tmp_path), pytest.raises(ConfigError, match="is held by"), share(tmp_path):
        pass
    with hold(tmp_path):
        pass


CODE = {"model.layer": ["gcn", "mine_for_search:Layer"]}


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A search of two designs has ended, and the code of one of them has changed since."""
    (tmp_path / "mine_for_search.py").write_text("class Layer: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    run(command(tmp_path, CODE))
    (tmp_path / "mine_for_search.py").write_text("class Layer: pass  # changed\n")


@pytest.mark.parametrize("extend", [False, True])
def test_designs_of_other_code_are_not_taken_for_those_of_this(tmp_path, edited, extend):
    line = "sweep.stale=error: 1 settled designs .* mine_for_search:Layer; choices: keep, rerun"
    with pytest.raises(ConfigError, match=line):
        run(command(tmp_path, CODE, extend=extend))


def test_designs_of_other_code_are_kept_or_run_again_if_asked(tmp_path, edited):
    for _ in range(2):  # to keep them does not make them the new code's
        assert run(command(tmp_path, CODE, stale="keep"))[2].ran == []
    _, _, room = run(command(tmp_path, CODE, stale="rerun"))
    assert [s.model.layer.name for s in room.ran] == ["mine_for_search:Layer"]
    assert run(command(tmp_path, CODE))[2].ran == []


def test_a_kept_result_of_a_grid_is_known_to_be_of_other_code(tmp_path, edited):
    (tmp_path / "s" / "study.journal").unlink()
    assert run(command(tmp_path, CODE, stale="keep"))[2].ran == []
    with pytest.raises(ConfigError, match=r"sweep\.stale"):
        run(command(tmp_path, CODE))


def by_layers(spec):
    """Every design has parameters in proportion to its layers."""
    return Done(replace(apart(spec).value, params=10 * spec.model.layers_mp))


@pytest.mark.parametrize("layers", [[1, 2, 3], {"low": 1, "high": 3}])
def test_a_size_that_no_design_has_is_a_mistake(tmp_path, layers):
    room = Room(inspect=by_layers)
    asked = command(tmp_path, {"model.layers_mp": layers}, 4, constraints=["params < 3"])
    for _ in range(2):
        with pytest.raises(ConfigError, match="constraints: no design of the space meets them"):
            run(asked, room)
    assert room.ran == []


def test_a_size_that_some_designs_have_is_none(tmp_path):
    asked = command(tmp_path, {"model.layers_mp": [1, 2, 3]}, 4, constraints=["params > 20"])
    code, _, room = run(asked, Room(inspect=by_layers))
    assert (code, [s.model.layers_mp for s in room.ran]) == (0, [3])


@pytest.mark.parametrize("space", [{}, [{}, {}], None])
def test_an_empty_space_cannot_be_searched(tmp_path, space):
    with pytest.raises(ConfigError, match=r"sweep\.space: holds no dimension to search"):
        run(command(tmp_path, space))


def test_the_last_line_tells_of_designs_whose_ranks_were_lost(tmp_path):
    def answer(spec):
        return LOST if spec.model.layers_mp == 2 else done(spec)

    _, text, _ = run(command(tmp_path, {"model.layers_mp": [1, 2, 3]}, 3), Room(run=answer))
    assert "2 of 3 designs are settled: the ranks of 1 were lost twice" in text


UNSOUND = [
    ({"sampler": {"name": "tpe", "nope": 1}}, "nope"),
    ({"pruner": {"name": "median", "n_startup_trials": -1}}, r"sweep\.pruner"),
    ({"pruner": "median", "objectives": ["val_accuracy", "params"]}, r"sweep\.objectives"),
    ({"storage": "sqlite:///x.db"}, r"sweep\.storage"),
]


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize(("sweep", "line"), UNSOUND)
def test_what_needs_no_build_is_checked_before_one_and_in_a_dry_run(tmp_path, sweep, line, dry):
    room = Room()
    with pytest.raises(ConfigError, match=line):
        run(command(tmp_path, dry=dry, **sweep), room)
    assert (room.inspected, list(tmp_path.iterdir())) == ([], [])


def test_a_storage_that_fails_leaves_the_tables_of_what_is_there(tmp_path):
    """A line of something else gets into the journal while trials run."""
    journal = tmp_path / "s" / "study.journal"

    def answer(spec):
        if spec.model.layers_mp == 2:
            journal.write_text(journal.read_text() + "garbage\n")
        return done(spec)

    with pytest.raises(ConfigError, match=r"is no record of a journal"):
        run(command(tmp_path), Room(slots=1, run=answer))
    assert "2" in {row["model.layers_mp"] for row in board(tmp_path)}
