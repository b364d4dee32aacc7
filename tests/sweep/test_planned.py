"""A planned sweep with a launcher that follows a script: what is run, reused, told and written."""

from dataclasses import replace

import pytest

from gymspace.dist.jobs import Done, Failed, Progress, Started, TimedOut
from gymspace.errors import ConfigError
from gymspace.records import RESULT, Facts, Inspect, read_json, write_json
from gymspace.sweep.draws.draw import Grid
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.plan import Designer, plan
from gymspace.sweep.planned import Sweep, reusable, run_sweep
from gymspace.sweep.spaces.space import parse_space
from tests.sweep.launchers import Script, Watch, alike, apart, done, result

SPACE = {"model.layers_mp": [1, 2, 3]}


class Listening(Grid):
    """A grid that remembers what it was told."""

    def __init__(self, space):
        super().__init__(space)
        self.told = []

    def tell(self, assignment, result):
        self.told.append((dict(assignment), result["seed"], result["status"]))


@pytest.fixture
def sweep(tmp_path):
    """Make the sweep of a space; always in the same folder."""

    def make(space=SPACE, seeds=1, folds=1, stale="error", base=None):
        repeats = [{"seed": seed, "fold": fold} for fold in range(folds) for seed in range(seeds)]
        config = base or {}
        trials = plan(
            Grid(parse_space(space)), Designer(repeats, config, {}, lambda chosen: config)
        )
        draw = Listening(parse_space(space))
        return Sweep(trials, draw, SweepFolder(tmp_path), {"name": "s"}, stale)

    return make


def run(sweep, **answers):
    script, watch = Script(**answers), Watch()
    return run_sweep(sweep, script, watch)[0], script, watch


def test_everything_runs_once_and_is_told_in_the_order_of_the_plan(sweep):
    asked = sweep(seeds=2)
    results, script, watch = run(asked)
    assert [r["trial"] for r in results] == [t.id for t in asked.trials]
    assert [s.seed for s in script.ran] == [0, 1] * 3
    assert (watch.total, watch.reused) == (6, 0)
    assert watch.events == {"Started": 6, "Finished": 6}
    assert asked.draw.told == [
        ({"model.layers_mp": n}, seed, "done") for n in (1, 2, 3) for seed in (0, 1)
    ]


def test_a_second_run_starts_nothing_at_all(sweep):
    first, _, _ = run(sweep())
    again, script, watch = run(sweep())
    assert again == first
    assert script.places == []
    assert (watch.total, watch.reused) == (3, 3)


def test_more_seeds_run_only_the_new_ones(sweep):
    run(sweep(seeds=1))
    _, script, watch = run(sweep(seeds=2))
    assert [s.seed for s in script.ran] == [1, 1, 1]
    assert watch.reused == 3


FAILURES = {
    "failed": Failed("ValueError: no", "Traceback ...\nValueError: no"),
    "timeout": TimedOut(2.5),
}


@pytest.mark.parametrize("status", FAILURES)
def test_a_trial_that_goes_wrong_is_a_row_and_the_rest_go_on(sweep, status):
    """Field case G2: one failing job hides the rest."""
    asked = sweep()

    def answer(spec):
        return FAILURES[status] if spec.model.layers_mp == 2 else done(spec)

    results, _, _ = run(asked, run=answer)
    assert [r["status"] for r in results] == ["done", status, "done"]
    kept = read_json(asked.folder.trial(asked.trials[1].id) / RESULT)
    assert kept == results[1]
    expected = {"failed": "ValueError: no", "timeout": "took more than trial.timeout=2.5 s"}
    assert (kept["error"], kept["best_epoch"]) == (expected[status], None)
    assert (kept["traceback"] or "").startswith("Traceback") == (status == "failed")
    again, script, _ = run(sweep())
    assert [s.model.layers_mp for s in script.ran] == [2]
    assert [r["status"] for r in again] == ["done"] * 3


@pytest.mark.parametrize("status", ["diverged", "pruned"])
def test_what_is_final_is_not_run_again(sweep, status):
    run(sweep(), run=lambda spec: Done(result(spec, status=status)))
    results, script, _ = run(sweep())
    assert script.ran == []
    assert {r["status"] for r in results} == {status}


def test_a_result_cut_off_is_run_again_and_gone_meanwhile(sweep):
    """Field case B6: a truncated seed. The script itself asserts that no result is there."""
    asked = sweep()
    run(asked)
    (asked.folder.trial(asked.trials[0].id) / RESULT).write_text('{"status": "do')
    _, script, _ = run(sweep())
    assert [s.model.layers_mp for s in script.ran] == [1]


def test_each_design_is_looked_at_once_and_before_the_first_trial(sweep):
    script = Script()
    script._run = lambda spec: done(spec) if len(script.inspected) == 3 else Failed("early", "")
    results, _ = run_sweep(sweep(seeds=2), script, Watch())
    assert {r["status"] for r in results} == {"done"}
    assert [s.model.layers_mp for s in script.inspected] == [1, 2, 3]


def test_every_fold_is_looked_at(sweep):
    """Field case F4: a fold that is not there is noticed only after the sweep ran for hours."""
    asked = sweep(folds=3)
    _, script, _ = run(asked)
    assert [(s.model.layers_mp, s.fold) for s in script.inspected if s.fold] == [(1, 1), (1, 2)]
    assert [s.model.layers_mp for s in script.inspected if not s.fold] == [1, 2, 3]


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (Failed("model.dim_inner=3: no such width", "", "model.dim_inner"), "no such width"),
        (Failed("rank 0 died: exit code 1", ""), "model: cannot be built: rank 0 died"),
        (TimedOut(9.0), "model: cannot be built: it took more than trial.timeout"),
    ],
)
def test_a_design_that_cannot_be_built_stops_all_before_anything_is_written(sweep, fault, line):
    asked = sweep()

    def look(spec):
        return fault if spec.model.layers_mp == 3 else apart(spec)

    with pytest.raises(ConfigError) as error:
        run(asked, inspect=look)
    assert line in str(error.value)
    assert list(asked.folder.path.iterdir()) == []


def test_a_swept_key_that_changes_nothing_is_warned_of(sweep):
    """Field case A5: `agg` under a layer that ignores it."""
    space = {"model.layer": ["gcn"], "model.agg": ["add", "mean", "max"]}
    results, _, watch = run(sweep(space), inspect=alike)
    assert watch.warnings == ["model.agg is swept, but changes nothing with model.layer=gcn"]
    assert len(results) == 3


def test_a_swept_key_is_warned_of_once(sweep):
    text = "model.agg changes nothing: model.layer=gcn does not ask for it"
    told = Done(Facts(1, "one model for all", "", (text, "the edge encoder changes nothing")))
    space = {"model.layer": ["gcn"], "model.agg": ["add", "max"]}
    _, _, watch = run(sweep(space), inspect=lambda spec: told)
    assert watch.warnings == [
        "the edge encoder changes nothing",
        "model.agg is swept, but changes nothing with model.layer=gcn",
    ]


def test_what_has_no_effect_in_a_design_is_warned_of_once(sweep):
    """Field case E2."""
    told = Facts(1, "", "", ("the edge encoder changes nothing",))
    _, _, watch = run(sweep(), inspect=lambda spec: Done(replace(told, architecture=repr(spec))))
    assert watch.warnings == ["the edge encoder changes nothing"]


def test_long_work_before_the_trials_is_told(sweep):
    class Slow(Script):
        def run(self, jobs):
            for event in super().run(jobs):
                yield event
                if isinstance(event, Started) and isinstance(event.job.payload, Inspect):
                    yield Progress(0, event.job, "rwse: 3 of 8 nodes")

    watch = Watch()
    run_sweep(sweep({"model.layers_mp": [1]}), Slow(), watch)
    assert watch.notes == ["rwse: 3 of 8 nodes"]


def test_trials_of_several_sizes_in_one_sweep(sweep):
    asked = sweep({"dist.ranks": [1, 2], "model.layers_mp": [1, 2]})
    results, script, _ = run(asked)
    assert script.places == [(1, "cpu"), (2, "cpu")]
    assert [s.dist.ranks for s in script.ran] == [1, 1, 2, 2]
    assert [r["ranks"] for r in results] == [1, 1, 2, 2]


def coded(sweep, digest, stale="error"):
    """A sweep whose trials depend on user code with this digest."""
    from dataclasses import replace

    asked = sweep(stale=stale)
    return replace(asked, trials=[replace(t, code={"my:L": digest}) for t in asked.trials])


def test_changed_code_is_not_reused_silently(sweep):
    run(coded(sweep, "old"))
    assert len(reusable(coded(sweep, "old"))) == 3
    with pytest.raises(ConfigError) as error:
        run(coded(sweep, "new"))
    line = "3 finished trials were run with another version of my:L; choices: keep, rerun"
    assert line in str(error.value)


@pytest.mark.parametrize(("stale", "ran"), [("keep", 0), ("rerun", 3)])
def test_changed_code_is_kept_or_run_again_as_asked(sweep, stale, ran):
    run(coded(sweep, "old"))
    _, script, _ = run(coded(sweep, "new", stale))
    assert len(script.ran) == ran
    kept = coded(sweep, "new" if ran else "old")
    assert len(reusable(kept)) == 3


def test_a_result_that_is_not_finite_is_written_as_json(sweep):
    """Field case G7: nan has no word in JSON."""
    asked = sweep()
    run(asked, run=lambda spec: Done(result(spec, status="diverged", val_loss=float("nan"))))
    kept = asked.folder.result(asked.trials[0])
    assert kept["val_loss"] is None


def test_a_stray_folder_changes_nothing(sweep):
    asked = sweep()
    stray = asked.folder.path / "trials" / "stray"
    stray.mkdir(parents=True)
    write_json(stray / RESULT, {"status": "done"})
    results, _, _ = run(asked)
    assert len(results) == 3
