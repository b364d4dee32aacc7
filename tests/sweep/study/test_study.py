"""A study on each kind of storage: what it proposes, keeps, refuses and gives back."""

import math
import os
import signal
import subprocess
import sys

import optuna
import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.space import identity, parse_space
from gymspace.sweep.study import study as study_module
from gymspace.sweep.study.history import DESIGN, LEASE, SAME_AS
from gymspace.sweep.study.leases import LEASE as LASTS
from gymspace.sweep.study.leases import Leases
from gymspace.sweep.study.proposals import FAULT, Known, Proposal
from tests.sweep.searches import SPACE, WIDE, elsewhere, open_study, proposals, value
from tests.sweep.servers import environment


def test_every_design_of_a_space_is_proposed_once_and_then_none(storage, name):
    space = parse_space({"model.layers_mp": [1, 2], "model.agg": ["add", "mean"]})
    study = open_study(storage, name, space)
    found = proposals(study)
    assert len({p.design for p in found}) == len(found) == space.size == 4
    assert study.ask(identity) is None
    settled = study.settled()
    assert {d: s.values for d, s in settled.items()} == {p.design: [value(p)] for p in found}
    study.close()


def start(storage, name, *more):
    command = [sys.executable, "-m", "tests.sweep.searches", storage, name, *more]
    return subprocess.Popen(
        command,
        env=environment(),
        cwd=environment()["PYTHONPATH"],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("kind", "processes"), [("journal", 4), ("database", 3), ("grpc", 2)])
def test_processes_share_a_study_without_a_design_twice(kind, processes, request, tmp_path, name):
    """They begin with an empty storage, so that all of them make it at the same time."""
    journal = str(tmp_path / "study.journal")
    storage = journal if kind == "journal" else request.getfixturevalue(kind)
    running = [start(storage, name) for _ in range(processes)]
    printed = [process.communicate(timeout=120)[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0] * processes
    designs = [line for lines in printed for line in lines]
    assert len(designs) == len(set(designs)) >= 10
    study = open_study(storage, name, WIDE)
    assert {d: s.status for d, s in study.settled().items()} == dict.fromkeys(designs, "done")
    study.close()


def test_a_killed_process_gives_its_trial_back_at_once_and_a_live_one_keeps_it(storage, name):
    held = [start(storage, name, "hold") for _ in range(2)]
    designs = [process.stdout.readline().strip() for process in held]
    study = open_study(storage, name, WIDE)
    assert study.reclaim() == 0
    os.kill(held[0].pid, signal.SIGKILL)
    os.waitid(os.P_PID, held[0].pid, os.WEXITED | os.WNOWAIT)  # dead, and not buried
    assert study.reclaim() + study.reclaim() == 1
    asked = study.ask(identity)
    assert asked.design == designs[0]
    study.tell(asked, "done", [1.0])
    assert {p.design for p in proposals(study, most=2)}.isdisjoint(designs)
    assert len(study.settled()) == 3
    study.close()
    for process in held:
        process.kill()
        process.communicate()


def test_a_trial_of_another_host_is_left_alone_until_its_lease_ran_out(storage, name):
    now = [1000.0]
    there = open_study(storage, name, leases=elsewhere(lambda: now[0]))
    here = open_study(storage, name, leases=Leases(lambda: now[0]))
    lost = there.ask(identity)
    now[0] += LASTS - 1
    there.renew()
    now[0] += LASTS
    assert here.reclaim() == 0
    now[0] += 1
    assert here.reclaim() == 1
    assert here.ask(identity).design == lost.design
    there._storage.close()
    here.close()


def test_a_result_of_a_trial_that_was_taken_over_counts_once(storage, name):
    """Whoever is first: the process that was given up, or the one that took over."""
    now = [1000.0]
    there = open_study(storage, name, leases=elsewhere(lambda: now[0]))
    here = open_study(storage, name, leases=Leases(lambda: now[0]))
    lost = there.ask(identity)
    now[0] += LASTS + 1
    here.reclaim()
    again = here.ask(identity)
    assert there.report(lost, 0, 0.5) is None
    there.tell(lost, "done", [0.25])
    here.settled()
    here.tell(again, "done", [0.75])
    assert [s.values for s in here.settled().values()] == [[0.25]]
    told = [t for t in here._ledger.trials() if t.state == optuna.trial.TrialState.COMPLETE]
    assert len(told) == 1
    there.close()
    here.close()


def test_what_is_open_when_a_study_is_closed_is_proposed_again(storage, name):
    study = open_study(storage, name)
    first, second = study.ask(identity), study.ask(identity)
    study.tell(first, "done", [1.0])
    study.close()
    study = open_study(storage, name)
    assert study.ask(identity).design == second.design
    study.close()


def test_optuna_opens_the_study_as_it_stands(storage, name):
    """What `optuna-dashboard` shows: names and values of parameters as in the config."""
    space = parse_space(
        {"model.layer": ["gcn", {"name": "gat", "heads": 4}], "optim.lr": {"low": 0.1, "high": 0.2}}
    )
    study = open_study(storage, name, space)
    asked = study.ask(identity)
    study.tell(asked, "done", [0.5])
    loaded = optuna.load_study(study_name=name, storage=study._storage.backend)
    (trial,) = loaded.trials
    labels = {"gcn": "gcn", "gat": "gat(heads=4)"}
    chosen = asked.assignment["model.layer"]
    layer = labels[chosen if isinstance(chosen, str) else chosen["name"]]
    assert trial.params == {"model.layer": layer, "optim.lr": asked.assignment["optim.lr"]}
    assert (trial.values, trial.user_attrs[DESIGN]) == ([0.5], asked.design)
    assert trial.user_attrs[LEASE]["pid"] == os.getpid()
    study.close()


def test_a_search_goes_on_with_its_seed_and_repeats_nothing(storage, name):
    found = []
    for _ in range(4):
        study = open_study(storage, name, sampler="random", seed=3)
        found += proposals(study, most=2)
        study.close()
    assert len({p.design for p in found}) == 8
    study = open_study(storage, name)
    repeated = [t for t in study._ledger.trials() if SAME_AS in t.user_attrs]
    assert len(repeated) < 12  # chance meets old designs; the same draws again would do so far more
    study.close()


def test_a_search_is_a_function_of_its_seed(tmp_path):
    found = []
    for index, seed in enumerate((1, 1, 2)):
        study = open_study(str(tmp_path / f"{index}.journal"), "study", seed=seed)
        found.append([p.design for p in proposals(study)])
    assert found[0] == found[1] != found[2]


def test_a_known_design_is_answered_with_its_value_and_does_not_count(tmp_path, name, monkeypatch):
    monkeypatch.setattr(study_module, "REPEATS", 10**9)
    study = open_study(str(tmp_path / "a.journal"), name, parse_space({"model.layers_mp": [1, 2]}))
    study.tell(study.ask(lambda assignment: "one"), "done", [0.5])
    asked = study.ask(lambda assignment: "one")
    assert isinstance(asked, Known)
    assert (asked.settled.status, asked.settled.values) == ("done", [0.5])
    assert len(study.settled()) == 1
    told = study._ledger.trials()[asked.proposal.number]
    assert (told.values, told.user_attrs[SAME_AS]) == ([0.5], 0)


def test_after_fifty_repeats_a_design_is_drawn_that_is_left(tmp_path, name):
    """A sampler that has only one idea."""
    study = open_study(str(tmp_path / "a.journal"), name, sampler="tests.sweep.samplers:Stubborn")
    first = study.ask(identity)
    study.tell(first, "done", [1.0])
    known = 0
    while isinstance(asked := study.ask(identity), Known):
        known += 1
    assert known == 50
    assert isinstance(asked, Proposal)
    assert asked.design != first.design
    assert len({first.design, asked.design} | {p.design for p in proposals(study)}) == SPACE.size


def test_two_that_ask_do_not_get_the_same_from_a_stubborn_sampler(storage, name, monkeypatch):
    monkeypatch.setattr(study_module, "REPEATS", 3)
    stubborn = {"sampler": "tests.sweep.samplers:Stubborn"}
    studies = [open_study(storage, name, **stubborn) for _ in range(2)]
    asked = [study.ask(identity) for study in (*studies, *studies)]
    assert len({p.design for p in asked}) == 4
    studies[0].settled()
    assert studies[0].running() == 4
    for study in studies:
        study.close()


def test_a_failed_design_is_told_worse_than_all_and_is_not_proposed_again(tmp_path, name):
    study = open_study(str(tmp_path / "a.journal"), name)
    good, bad = study.ask(identity), study.ask(identity)
    study.tell(good, "done", [0.5])
    study.tell(bad, "oom", error="out of memory")
    assert study.settled()[bad.design].status == "oom"
    assert study.settled()[bad.design].values is None
    told = study._ledger.trials()[bad.number]
    assert told.values[0] < 0.5
    assert math.isfinite(told.values[0])
    assert bad.design not in {p.design for p in proposals(study)}


@pytest.mark.parametrize("sampler", ["tpe", "tpe_multivariate"])
def test_the_sampler_learns_to_avoid_what_fails(tmp_path, name, sampler):
    """Also what fails before anything has a value."""
    space = parse_space({"model.act": ["relu", "elu"], "optim.lr": {"low": 0.0, "high": 1.0}})
    study = open_study(str(tmp_path / "a.journal"), name, space, sampler=sampler)
    failed = []
    for _ in range(60):
        asked = study.ask(identity)
        failed.append(asked.assignment["model.act"] == "elu")
        if failed[-1]:
            study.tell(asked, "diverged")
        else:
            study.tell(asked, "done", [asked.assignment["optim.lr"]])
    assert sum(failed[30:]) < 8


def test_a_value_that_is_no_number_is_a_divergence(tmp_path, name):
    """Field case G7: nan told to a study."""
    study = open_study(str(tmp_path / "a.journal"), name)
    asked = study.ask(identity)
    study.tell(asked, "done", [math.nan])
    assert study.settled()[asked.design].status == "diverged"


def test_a_fault_lets_a_design_come_again_but_not_for_ever(tmp_path, name):
    space = parse_space({"model.layers_mp": [1]})
    study = open_study(str(tmp_path / "a.journal"), name, space)
    asked = []
    while (proposal := study.ask(identity)) is not None:
        asked.append(proposal.design)
        study.tell(proposal, FAULT)
    assert len(asked) == 3
    assert study.settled() == {}


def test_failures_are_tried_again_if_asked_for(storage, name):
    study = open_study(storage, name)
    bad, good = study.ask(identity), study.ask(identity)
    study.tell(good, "done", [0.5])
    study.tell(bad, "failed")
    study.close()
    study = open_study(storage, name, retry=True)
    assert bad.design not in study.settled()
    again = study.ask(identity)
    assert again.design == bad.design
    study.tell(again, "done", [0.75])
    assert study.settled()[bad.design].values == [0.75]
    study.close()


def test_a_design_that_is_not_allowed_is_never_proposed(tmp_path, name):
    study = open_study(str(tmp_path / "a.journal"), name)

    def few_layers(assignment):
        return identity(assignment) if assignment["model.layers_mp"] < 3 else None

    found = []
    while (asked := study.ask(few_layers)) is not None:
        if isinstance(asked, Proposal):
            found.append(asked.assignment["model.layers_mp"])
            study.tell(asked, "done", [0.5])
    assert sorted(found) == [1, 1, 1, 2, 2, 2]


def test_several_objectives(tmp_path, name):
    ways = ["maximize", "minimize"]
    study = open_study(str(tmp_path / "a.journal"), name, directions=ways)
    done, failed = study.ask(identity), study.ask(identity)
    study.tell(done, "done", [0.5, 100.0])
    study.tell(failed, "diverged")
    told = study._ledger.trials()[failed.number].values
    assert told[0] < 0.5
    assert told[1] > 100
    assert len(proposals_of_two(study)) == SPACE.size - 2


def proposals_of_two(study):
    found = []
    while (asked := study.ask(identity)) is not None:
        if isinstance(asked, Proposal):
            found.append(asked)
            study.tell(asked, "done", [value(asked), 1.0])
    return found


def test_several_objectives_cannot_be_pruned_by(tmp_path, name):
    ways = ["maximize", "minimize"]
    with pytest.raises(ConfigError, match=r"sweep\.pruner=median.*sweep\.objectives"):
        open_study(str(tmp_path / "a.journal"), name, directions=ways, pruner="median")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"directions": ["minimize"]}, r'directions=\["maximize"\], not \["minimize"\]'),
        ({"about": {"objectives": ["loss"]}}, r'objectives=\["accuracy"\], not \["loss"\]'),
        ({"about": {"base": {"dataset": "cora"}}}, 'base.dataset="digits", not "cora"'),
        ({"space": parse_space({"model.act": ["relu"]})}, "space=.*layers_mp.*not.*model.act"),
    ],
)
def test_another_search_under_the_same_name_is_refused(storage, name, change, named):
    """Field case G8: both are named."""
    study = open_study(storage, name)
    study.close()
    with pytest.raises(ConfigError, match=f"sweep.name={name}: .*{named}"):
        open_study(storage, name, **change)


def test_a_study_is_extended_by_choices_a_range_and_a_part(storage, name):
    few = {"model.layers_mp": [1, 2], "optim.lr": [0.1]}
    study = open_study(storage, name, parse_space(few))
    before = {p.design for p in proposals(study)}
    study.close()
    more = {"model.layers_mp": [1, 2, 3], "optim.lr": [0.1]}
    study = open_study(storage, name, parse_space([more, {**few, "optim.lr": [0.2]}]), extend=True)
    after = {p.design for p in proposals(study)}
    assert len(after) == 3
    assert after.isdisjoint(before)
    study.close()


def test_only_an_extension_of_objectives_is_refused(tmp_path, name):
    open_study(str(tmp_path / "a.journal"), name)
    with pytest.raises(ConfigError, match=r"directions"):
        open_study(str(tmp_path / "a.journal"), name, directions=["minimize"], extend=True)
