"""Leases: who is dead, on this host and on another."""

import os
import subprocess
from dataclasses import replace

import pytest

from gymspace.sweep.study.leases import BARE, LEASE, RENEWAL, Leases, Owner


class Clock:
    """A clock that stands still."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    """A clock at 1000."""
    return Clock()


def test_a_process_here_is_alive_however_long_it_says_nothing(clock):
    lease = Leases(clock).lease()
    clock.now += 10 * LEASE
    assert not Leases(clock).dead(0, lease)


def test_a_process_that_ended_here_is_dead_at_once(clock):
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    unburied = {**Leases(clock).lease(), "pid": process.pid}
    assert Leases(clock).dead(0, unburied)
    process.wait()
    assert Leases(clock).dead(0, unburied)


def test_a_process_that_has_the_number_of_a_dead_one_is_another(clock):
    lease = Leases(clock).lease()
    assert Leases(clock).dead(0, {**lease, "started": lease["started"] - 1})


@pytest.mark.parametrize("change", [{"host": "elsewhere"}, {"system": "another container"}])
def test_elsewhere_a_process_lives_as_long_as_its_lease(clock, change):
    lease = Leases(clock, replace(Owner.here(), pid=1, **change)).lease()
    clock.now += LEASE
    assert not Leases(clock).dead(0, lease)
    clock.now += 1
    assert Leases(clock).dead(0, lease)


def test_a_trial_may_be_without_a_lease_for_a_while(clock):
    leases = Leases(clock)
    clock.now += 10 * BARE
    assert not leases.dead(0, None)
    clock.now += BARE
    assert not leases.dead(0, None)
    clock.now += 1
    assert leases.dead(0, None)
    assert not leases.dead(1, None)


def test_leases_are_renewed_every_ten_seconds(clock):
    leases = Leases(clock)
    assert not leases.due()
    clock.now += RENEWAL
    assert leases.due()
    assert not leases.due()
