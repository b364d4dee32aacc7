"""Who gives way when two processes mean the same design."""

import threading

import optuna
import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.space import identity
from gymspace.sweep.study.bakery import rival
from gymspace.sweep.study.history import DESIGN
from gymspace.sweep.study.leases import LEASE, Leases
from gymspace.sweep.study.proposals import Proposal
from tests.sweep.searches import elsewhere, open_study

STUBBORN = "tests.sweep.samplers:Stubborn"


@pytest.fixture
def journal(tmp_path):
    """The path of a journal."""
    return str(tmp_path / "study.journal")


def test_a_higher_number_waits_until_a_lower_one_has_said_its_design(journal):
    first, second = (open_study(journal, "study", sampler=STUBBORN) for _ in range(2))
    trial = first._ledger.begin()
    asked = []
    asking = threading.Thread(target=lambda: asked.append(second.ask(identity)))
    asking.start()
    asking.join(0.2)
    assert asking.is_alive()
    design = identity(first._params.draw(trial))
    trial.set_user_attr(DESIGN, design)
    asking.join(60)
    assert asked[0].design != design


def test_a_process_that_died_in_silence_is_not_waited_for(journal):
    now = [1000.0]
    dead = open_study(journal, "study", leases=elsewhere(lambda: now[0]))
    dead._ledger.begin()
    now[0] += LEASE + 1
    study = open_study(journal, "study", leases=Leases(lambda: now[0]))
    assert study.ask(identity).number == 1
    assert study.settled() == {}
    assert study.running() == 1


def test_the_design_of_a_dead_process_goes_to_who_means_it_too(journal):
    now = [1000.0]
    there = open_study(journal, "study", sampler=STUBBORN, leases=elsewhere(lambda: now[0]))
    lost = there.ask(identity)
    now[0] += LEASE + 1
    study = open_study(journal, "study", sampler=STUBBORN, leases=Leases(lambda: now[0]))
    asked = study.ask(identity)
    assert (asked.design, asked.number) == (lost.design, 1)
    study.tell(asked, "done", [0.5])
    assert [s.number for s in study.settled().values()] == [1]


def test_who_was_late_gives_way_to_higher_numbers(journal):
    study = open_study(journal, "study")
    first, second = study.ask(identity), study.ask(identity)
    same = Proposal(first.number, second.assignment, second.design)
    assert rival(study._ledger, same) is None
    assert rival(study._ledger, same, late=True) == second.number


def test_a_study_of_somebody_else_is_left_alone(journal):
    backend = optuna.storages.journal.JournalFileBackend(journal)
    study = optuna.create_study(
        storage=optuna.storages.JournalStorage(backend), study_name="study", direction="maximize"
    )
    study.ask()
    with pytest.raises(ConfigError, match=r"sweep\.name=study: .*not made here"):
        open_study(journal, "study")
