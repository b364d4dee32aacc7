"""Slots of two ranks: one process group for all their jobs, and what one rank's failure does."""

import os
import signal
from pathlib import Path

import pytest

from gymspace.dist import slot
from gymspace.dist.slots import Done, Finished, Job, Progress, Slots, TimedOut


@pytest.fixture(scope="module")
def pair():
    with Slots("tests.dist.workers:Group", 1, 2, preload=("torch",)) as slots:
        yield slots


def outcome(slots, *payload, timeout=None):
    """The outcome of a single job."""
    return list(slots.run([Job("job", payload, timeout)]))[-1].outcome


def test_ranks_sum_up_over_many_jobs(pair):
    jobs = [Job(str(i), ("total", i)) for i in range(200)]
    ended = [e.outcome for e in pair.run(jobs) if isinstance(e, Finished)]
    assert ended == [Done(2.0 * i + 1) for i in range(200)]


def test_many_jobs_leave_no_descriptors_behind(pair):
    def descriptors():
        return outcome(pair, "descriptors").value, len(list(Path("/proc/self/fd").iterdir()))

    assert outcome(pair, "total", 0) == Done(1.0)
    before = descriptors()
    list(pair.run(Job(str(i), ("total", i)) for i in range(200)))
    assert descriptors() == before


def test_only_rank_0_reports(pair):
    events = list(pair.run([Job("job", ("reports", 5))]))
    assert [e.value for e in events if isinstance(e, Progress)] == list(range(5))


@pytest.mark.parametrize("rank", [0, 1])
def test_a_failure_ends_the_wait_of_the_other_rank(pair, rank, monkeypatch):
    monkeypatch.setattr(slot, "GRACE", 0.3)
    failed = outcome(pair, "one_fails", rank)
    assert failed.error == f"rank {rank}: ValueError: mine"
    assert "in one_fails" in failed.traceback
    assert outcome(pair, "total", 0) == Done(1.0)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_death_is_named_and_not_the_errors_it_brings(pair, rank):
    failed = outcome(pair, "one_dies", rank)
    assert failed.error == f"rank {rank} died: killed by signal 9 (SIGKILL)"
    assert outcome(pair, "total", 0) == Done(1.0)


def test_a_config_error_is_about_no_rank(pair):
    failed = outcome(pair, "config")
    assert failed.error.startswith("model.layer=gatt: no such layer")
    assert failed.key == "model.layer"


def test_memory_that_torch_cannot_get_is_told_as_such(pair, monkeypatch):
    """Its allocator for the CPU raises what any other mistake does."""
    monkeypatch.setattr(slot, "GRACE", 0.3)
    failed = outcome(pair, "too_large")
    assert failed.kind == "memory"
    assert "out of memory: RuntimeError" in failed.error


def test_only_rank_0_is_answered(pair):
    for event in pair.run([Job("job", ("first_asks",))]):
        if isinstance(event, Progress):
            pair.answer(event.slot, "go on")
    assert event.outcome == Done(("go on", 1.0))


def test_a_result_is_not_lost_to_a_rank_that_lags(pair, monkeypatch):
    monkeypatch.setattr(slot, "LAG", 0.3)
    assert outcome(pair, "one_lags") == Done("result")
    assert outcome(pair, "total", 0) == Done(1.0)


def test_all_ranks_are_killed_after_the_time(pair):
    assert outcome(pair, "sleep", 1000, timeout=0.3) == TimedOut(0.3)
    assert outcome(pair, "total", 0) == Done(1.0)


def test_a_rank_killed_from_outside_ends_the_job_of_both(pair, monkeypatch):
    monkeypatch.setattr(slot, "GRACE", 0.3)
    for event in pair.run([Job("job", ("sleep", 1000))]):
        if isinstance(event, Progress):
            os.kill(event.value, signal.SIGKILL)
    assert event.outcome.error == "rank 0 died: killed by signal 9 (SIGKILL)"
