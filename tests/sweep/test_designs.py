"""The designs of a search: what is asked for, run, told, given up and put away; with no study."""

from itertools import chain, repeat

import pytest

from gymspace.dist.jobs import Done, Failed, TimedOut
from gymspace.records import RESULT, read_json
from gymspace.sweep.designs import Designs, Rules
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.limits import Limits
from gymspace.sweep.loop import drive
from gymspace.sweep.objectives import Objective
from gymspace.sweep.plan import Designer
from gymspace.sweep.spaces.space import Constraint
from tests.sweep.launchers import Room, Watch, apart, done, result
from tests.sweep.studies import Notebook

ACCURACY = Objective("val_accuracy", "maximize")
LOST = Failed("rank 0 died: killed by signal 9", "", kind="lost")
MEMORY = Failed("MemoryError: ", "", kind="memory")
DESIGNS = [{"model.layers_mp": n} for n in (1, 2, 3, 4)]


@pytest.fixture
def search(tmp_path):
    """Run designs with a study, always in the same folder; returns the source and the launcher."""

    def run(study, room=None, seeds=2, n=100, clock=None, goals=(ACCURACY,), constraints=()):
        config = {"train": {"epochs": 3}}
        repeats = [{"seed": seed, "fold": 0} for seed in range(seeds)]
        designer = Designer(repeats, config, {}, lambda chosen: config)
        watch, room = Watch(), room or Room()
        rules = Rules(n, goals, constraints)
        designs = Designs(study, designer, rules, SweepFolder(tmp_path), watch)
        drive((clock or Limits().start()).limited(designs), room, watch)
        return designs, room, watch

    return run


def mean(layers, seeds=2):
    return sum(1 / (1 + layers + seed) for seed in range(seeds)) / seeds


def test_the_value_of_a_design_is_the_mean_over_its_repeats(search):
    study = Notebook(DESIGNS[:2])
    designs, _, watch = search(study)
    assert study.told == [(0, "done", [mean(1)]), (1, "done", [mean(2)])]
    assert (designs.statuses, watch.settled) == ({"done": 4}, 2)


def test_a_free_slot_takes_the_next_repeat_first_and_then_a_new_design(search):
    study = Notebook(DESIGNS)
    _, room, _ = search(study, Room(slots=2))
    assert room.most == 2
    ran = [(s.model.layers_mp, s.seed) for s in room.ran]
    assert ran == [(1, 0), (2, 0), (1, 1), (2, 1), (3, 0), (4, 0), (3, 1), (4, 1)]


def test_no_more_designs_are_asked_for_than_are_wanted(search):
    study = Notebook(DESIGNS, others=1)
    designs, _, _ = search(study, Room(slots=3), n=3)
    assert [number for number, *_ in study.told] == [0, 1]
    assert not designs.exhausted
    assert not designs.wanted()


def test_of_two_processes_that_ask_at_once_one_gives_its_design_back(search):
    class Late(Notebook):
        def ask(self, identify):
            proposal = super().ask(identify)
            self.others = 1  # the other process asked just before
            return proposal

    study = Late(DESIGNS)
    _, room, _ = search(study, n=1)
    assert (study.withdrawn, room.ran) == ([0], [])


def test_what_a_dead_process_had_is_taken_up_at_once(search):
    class Left(Notebook):
        def reclaim(self):
            self.others = 0
            return 1

    study = Left(DESIGNS[:1], others=1)
    search(study, n=1)
    assert [status for _, status, _ in study.told] == ["done"]


def test_repeats_that_are_there_are_taken_as_they_are(search, tmp_path):
    search(Notebook(DESIGNS[:2]), seeds=1)
    study = Notebook(DESIGNS[:2])
    _, room, _ = search(study, seeds=2)
    assert [s.seed for s in room.ran] == [1, 1]
    assert study.told[0] == (0, "done", [mean(1)])
    again = Notebook(DESIGNS[:2])
    _, room, _ = search(again, seeds=2)
    assert (room.ran, again.told) == ([], study.told)


def test_each_epoch_is_reported_with_its_step_over_all_repeats(search):
    study = Notebook(DESIGNS[:1], judge=lambda *_: None)
    search(study)
    steps = [step for _, step, _ in study.reports]
    assert steps == [0, 1, 2, 2, 3, 4, 5]  # the last of a repeat once more, for its result


def test_a_design_that_is_hopeless_is_stopped_within_a_trial(search, tmp_path):
    study = Notebook(
        DESIGNS[:2], judge=lambda n, step, value: "poor" if (n, step) == (1, 4) else None
    )
    designs, _, _ = search(study)
    assert study.told == [(1, "pruned", "poor"), (0, "done", [mean(1)])]
    assert designs.statuses == {"done": 3, "pruned": 1}
    kept = [read_json(path) for path in tmp_path.glob("trials/*/result.json")]
    assert sorted(
        (r["status"], r["seed"], r["epochs"]) for r in kept if r["status"] == "pruned"
    ) == [("pruned", 1, 2)]


def test_a_design_that_is_hopeless_after_a_repeat_is_not_repeated(search, tmp_path):
    study = Notebook(DESIGNS[:1], judge=lambda n, step, value: "poor" if step == 2 else None)
    _, room, _ = search(study, seeds=3)
    assert study.told == [(0, "pruned", "poor")]
    assert [s.seed for s in room.ran] == [0]
    kept = [read_json(path) for path in tmp_path.glob("trials/*/result.json")]
    told = sorted((r["seed"], r["status"], r["epochs"], r["error"]) for r in kept)
    assert told == [(0, "done", 1, None), (1, "pruned", 0, "poor")]
    again = Notebook(DESIGNS[:1], judge=lambda *_: None)
    _, room, _ = search(again, seeds=3)
    assert (room.ran, again.told) == ([], study.told)


def test_the_last_repeat_ends_well_whatever_the_pruner_says_after_it(search):
    study = Notebook(DESIGNS[:1], judge=lambda n, step, value: "poor" if step == 5 else None)
    search(study)
    assert study.told == [(0, "done", [mean(1)])]


def test_a_paired_pruner_hears_each_repeat_once(search):
    study = Notebook(DESIGNS[:1], judge=lambda *_: None, paired=True)
    search(study, seeds=3)
    assert study.reports == [(0, 0, 1 / 2), (0, 1, 1 / 3)]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (MEMORY, "failed"),
        (TimedOut(1.0), "timeout"),
        (lambda spec: Done(result(spec, status="diverged", error="loss is nan")), "diverged"),
    ],
)
def test_what_lasts_is_told_at_once_and_not_repeated(search, outcome, status):
    """Field case G7: nan is a row, and the search learns to avoid it."""

    def answer(spec):
        if spec.model.layers_mp != 1:
            return done(spec)
        return outcome(spec) if callable(outcome) else outcome

    study = Notebook(DESIGNS[:2])
    designs, _, _ = search(study, Room(run=answer))
    assert [(n, s) for n, s, _ in study.told] == [(0, status), (1, "done")]
    assert designs.statuses == {status: 1, "done": 2}


def test_ranks_that_are_lost_once_cost_nothing(search):
    lost = []

    def answer(spec):
        if spec.model.layers_mp == 1 and not lost:
            lost.append(spec)
            return LOST
        return done(spec)

    study = Notebook(DESIGNS[:1])
    designs, _, _ = search(study, Room(run=answer))
    assert study.told == [(0, "done", [mean(1)])]
    assert designs.statuses == {"done": 2}


def test_ranks_that_are_always_lost_end_the_search(search):
    study = Notebook(DESIGNS + DESIGNS)
    designs, room, _ = search(study, Room(run=lambda spec: LOST), n=3)
    assert [status for _, status, _ in study.told] == ["fault"] * 3
    assert designs.statuses == {"failed": 3}
    assert len(room.ran) == 6  # each was tried twice


def test_trials_are_put_away_when_the_time_is_over(search, tmp_path):
    study = Notebook(DESIGNS)
    hours = chain([0] * 4, repeat(1))
    clock = Limits(0.1, "checkpoint").start(lambda: 3600 * next(hours))
    designs, _, _ = search(study, clock=clock)
    assert designs.paused == 2
    assert (study.told, study.running()) == ([], 2)
    assert not list(tmp_path.glob(f"trials/*/{RESULT}"))
    search(again := Notebook(DESIGNS))
    assert [status for _, status, _ in again.told] == ["done"] * 4


def test_a_design_that_is_too_large_is_built_and_left(search):
    limit = Constraint.parse("params <= 100")

    def look(spec):
        facts = apart(spec).value
        return Done(type(facts)(1000 if spec.model.layers_mp > 2 else 7, facts.architecture, ""))

    study = Notebook(DESIGNS)
    _, room, _ = search(study, Room(inspect=look), constraints=[limit])
    assert [(n, s) for n, s, _ in sorted(study.told)] == [
        (0, "done"), (1, "done"), (2, "invalid"), (3, "invalid"),
    ]  # fmt: skip
    assert {s.model.layers_mp for s in room.ran} == {1, 2}


def test_a_choice_that_makes_no_valid_design_is_left_out_and_told(search):
    study = Notebook([{"model.layers_mp": -1}, *DESIGNS[:1]])
    _, _, watch = search(study)
    assert [(n, s) for n, s, _ in study.told] == [(1, "done")]
    assert len(watch.warnings) == 1
    assert "left out: model.layers_mp=-1" in watch.warnings[0]


def test_several_objectives_are_told_in_their_order(search):
    study = Notebook(DESIGNS[:1])
    search(study, goals=(ACCURACY, Objective("params", "minimize")))
    assert study.told == [(0, "done", [mean(1), 7.0])]


def test_an_objective_without_a_number_is_a_failure(search):
    study = Notebook(DESIGNS[:1])
    search(study, goals=(Objective("train_auc", "maximize"),))
    assert study.told == [(0, "failed", "train_auc is no number")]
