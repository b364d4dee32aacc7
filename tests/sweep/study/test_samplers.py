"""Every sampler and pruner of the tables, and those of users."""

import subprocess
import sys

import pytest

from gymspace.errors import ConfigError
from gymspace.schema import Component
from gymspace.sweep.spaces.space import identity, parse_space
from gymspace.sweep.study.proposals import Known
from gymspace.sweep.study.samplers import build_pruner, build_sampler
from gymspace.tables import PRUNERS, SAMPLERS
from tests.sweep.searches import open_study

MIXED = parse_space(
    [
        {
            "model.layers_mp": [1, 2, 3],
            "model.layer": ["gcn", {"name": "gat", "heads": 2}],
            "model.layer.heads": {"choices": [1, 2], "when": {"model.layer": "gat"}},
            "model.dim_inner": {"low": 16, "high": 64, "step": 16},
        },
        {"model.layers_mp": [7, 8], "optim.weight_decay": {"low": 0.1, "high": 0.3, "step": 0.1}},
    ]
)
SMOOTH = parse_space(
    {
        "optim.lr": {"low": 1e-4, "high": 1e-1, "log": True},
        "optim.weight_decay": {"low": 0.0, "high": 1.0},
    }
)


def asked(study, count):
    """So many proposals, told a value of no meaning; those that were known apart."""
    found = []
    while len(found) < count:
        proposal = study.ask(identity)
        if not isinstance(proposal, Known):
            found.append(proposal.assignment)
            study.tell(proposal, "done", [len(repr(proposal.assignment)) % 7])
    return found


# The brute force needs a finite space: see the next test.
CASES = [("mixed", name) for name in SAMPLERS] + [
    ("smooth", name) for name in SAMPLERS if name != "brute_force"
]


@pytest.mark.parametrize(("space", "sampler"), CASES)
@pytest.mark.filterwarnings("error")
def test_every_sampler_searches(tmp_path, space, sampler):
    space = {"mixed": MIXED, "smooth": SMOOTH}[space]
    study = open_study(str(tmp_path / "a.journal"), "study", space, sampler=sampler)
    found = asked(study, 12)
    assert len({identity(assignment) for assignment in found}) == 12
    assert {space.part_of(assignment) for assignment in found} == set(range(len(space.parts)))
    study.close()


def test_a_sampler_that_does_not_fit_the_space_is_told_so(tmp_path):
    with pytest.raises(ConfigError, match=r"sweep\.sampler=brute_force: does not work"):
        open_study(str(tmp_path / "a.journal"), "study", SMOOTH, sampler="brute_force")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sampler", "directions"),
    [
        ({"name": "tpe", "n_startup_trials": "many"}, ["maximize"]),
        ("cmaes", ["maximize", "minimize"]),
    ],
)
def test_a_sampler_that_cannot_propose_is_told_so_before_there_is_a_study(
    tmp_path, sampler, directions
):
    journal = str(tmp_path / "a.journal")
    with pytest.raises(ConfigError, match=r"sweep\.sampler=.*: does not work on this space"):
        open_study(journal, "study", SMOOTH, sampler=sampler, directions=directions)
    assert list(tmp_path.iterdir()) == []


def test_an_exhaustive_sampler_ends_with_the_space(tmp_path):
    space = parse_space({"model.layers_mp": [1, 2, 3], "model.agg": ["add", "mean"]})
    study = open_study(str(tmp_path / "a.journal"), "study", space, sampler="brute_force")
    assert len(asked(study, 6)) == 6
    assert study.ask(identity) is None
    assert len(study._ledger.trials()) == 6


@pytest.mark.parametrize("pruner", PRUNERS)
@pytest.mark.filterwarnings("error")
def test_every_pruner_stops_what_is_hopeless_and_nothing_good(tmp_path, pruner):
    study = open_study(str(tmp_path / "a.journal"), "study", SMOOTH, pruner=pruner)
    pruned = []
    for index in range(40):
        proposal, good = study.ask(identity), index % 2 == 0
        reason = None
        for step in range(7 if study.paired else 27):
            value = (0.9 + index / 1000 if good else 0.1 - index / 1000) + step / 1000
            if (reason := study.report(proposal, step, value)) is not None:
                break
        pruned.append(reason is not None)
        study.tell(proposal, "pruned" if reason else "done", None if reason else [value], reason)
    assert any(pruned) == study.prunes == (pruner != "none")
    assert sum(pruned[1::2]) >= sum(pruned[0::2])
    statuses = [s.status for s in study.settled().values()]
    assert statuses.count("pruned") == sum(pruned)
    study.close()


def test_nan_is_reported_as_it_is(tmp_path):
    """Field case G7: NaN reported to a pruner."""
    study = open_study(str(tmp_path / "a.journal"), "study", SMOOTH, pruner="median")
    for _ in range(6):
        proposal = study.ask(identity)
        assert study.report(proposal, 0, 0.5) is None
        study.tell(proposal, "done", [0.5])
    proposal = study.ask(identity)
    assert "nan at step 0" in study.report(proposal, 0, float("nan"))


def test_a_step_that_is_reported_twice_keeps_its_value(tmp_path, recwarn):
    study = open_study(str(tmp_path / "a.journal"), "study", SMOOTH, pruner="median")
    proposal = study.ask(identity)
    study.report(proposal, 0, 0.5)
    study.report(proposal, 0, 0.7)
    assert study._ledger.trials()[proposal.number].intermediate_values == {0: 0.5}
    assert list(recwarn) == []


@pytest.mark.parametrize(
    ("component", "problem"),
    [
        ({"name": "tpe", "n_startup": 3}, r"sweep.sampler.n_startup=3.*n_startup_trials"),
        ({"name": "tpe", "seed": 3}, r"sweep.sampler.seed=3"),
        ({"name": "qmc", "qmc_type": "x"}, r"sweep.sampler=qmc\(qmc_type=x\): cannot be built"),
        ("tests.sweep.samplers:NoSampler", "is no BaseSampler of Optuna"),
    ],
)
def test_a_sampler_that_cannot_be_made_is_told_so(component, problem):
    with pytest.raises(ConfigError, match=problem):
        build_sampler(Component.model_validate(component), 0)


def test_arguments_and_presets_reach_sampler_and_pruner():
    sampler = build_sampler(
        Component.model_validate({"name": "tpe_multivariate", "n_startup_trials": 3}), 0
    )
    assert (sampler._multivariate, sampler._n_startup_trials) == (True, 3)
    pruner = build_pruner(Component.model_validate({"name": "percentile", "percentile": 40.0}), "m")
    assert pruner._percentile == 40


def test_a_plain_sweep_does_not_import_optuna():
    """It takes a second, and a grid asks nobody."""
    code = "import sys, gymspace.__main__; sys.exit('optuna' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
