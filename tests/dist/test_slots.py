"""Slots of one rank: order, outcomes, deaths, time-outs, and what is left behind (nothing)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gymspace.dist.slots import (
    Done,
    Failed,
    Finished,
    Job,
    Progress,
    Slots,
    Started,
    StartError,
    TimedOut,
)
from gymspace.spec import TrialSpec
from tests.dist.processes import alive, descendants, until

TOY = "tests.dist.workers:Toy"


@pytest.fixture(scope="module")
def one():
    with Slots(TOY, 1, 1) as slots:
        yield slots


@pytest.fixture(scope="module")
def two():
    with Slots(TOY, 2, 1) as slots:
        yield slots


def outcome(slots, *payload, timeout=None):
    """The outcome of a single job."""
    return list(slots.run([Job("job", payload, timeout)]))[-1].outcome


def test_one_slot_tells_jobs_in_order(one):
    jobs = [Job(str(i), ("echo", i)) for i in range(3)]
    expected = [(Started(0, j), Finished(0, j, Done(j.payload[1]))) for j in jobs]
    assert list(one.run(jobs)) == [event for pair in expected for event in pair]


def test_slots_work_at_the_same_time(two, tmp_path):
    pairs = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]
    jobs = [Job(me, ("meet", str(tmp_path), me, other)) for me, other in pairs]
    values = [e.outcome.value for e in two.run(jobs) if isinstance(e, Finished)]
    assert sorted(values) == ["a", "b", "c", "d"]


def test_a_long_job_does_not_hold_up_the_other_slot(two, tmp_path):
    long, end = (("meet", str(tmp_path), *pair) for pair in [("long", "end"), ("end", "long")])
    jobs = [Job("long", long), *[Job("short", ("echo", 0))] * 5, Job("end", end)]
    ended = [e.job.id for e in two.run(jobs) if isinstance(e, Finished)]
    assert ended[:5] == ["short"] * 5
    assert sorted(ended[5:]) == ["end", "long"]


def test_a_job_is_asked_for_only_when_a_slot_is_free_and_the_last_outcome_was_told(one):
    told = []

    def jobs():
        for i in range(4):
            assert len(told) == i
            yield Job(str(i), ("echo", i))

    for event in one.run(jobs()):
        if isinstance(event, Finished):
            told.append(event)
    assert len(told) == 4


def test_progress_comes_before_the_outcome_and_in_order(one):
    events = list(one.run([Job("job", ("reports", 50))]))
    assert [e.value for e in events[1:-1] if isinstance(e, Progress)] == list(range(50))
    assert events[-1].outcome == Done(50)


def test_a_frozen_spec_goes_both_ways(one):
    spec = TrialSpec(seed=3)
    assert outcome(one, "echo", spec) == Done(spec)


def test_a_large_value_goes_both_ways(one):
    assert outcome(one, "echo", "x" * 5_000_000) == Done("x" * 5_000_000)


@pytest.mark.parametrize(
    ("verb", "error", "trace", "kind", "reused"),
    [
        ("wrong", "ValueError: two lines", "in wrong", "error", True),
        ("unpicklable", "", "<lambda>", "error", True),
        ("unreadable", "what rank 0 sent cannot be read here", "TypeError", "lost", False),
        ("config", "model.layer=gatt: no such layer", "in config", "config", True),
        ("memory", "out of memory: MemoryError: no more", "in memory", "memory", False),
        ("leave", "SystemExit: 4", "in leave", "error", False),
    ],
)
def test_an_exception_is_an_outcome(one, verb, error, trace, kind, reused):
    before = outcome(one, "pid")
    failed = outcome(one, verb)
    assert failed.error.startswith(error)
    assert "\n" not in failed.error
    assert trace in failed.traceback
    assert (failed.kind, failed.lasting) == (kind, kind != "lost")
    assert failed.key == ("model.layer" if kind == "config" else None)
    assert (outcome(one, "pid") == before) == reused


@pytest.mark.parametrize(
    ("payload", "error", "end"),
    [
        (("exit", 3), "rank 0 died: exit code 3", "last words"),
        (("segfault",), "rank 0 died: killed by signal 11 (SIGSEGV)", "in segfault"),
    ],
)
def test_a_death_is_an_outcome_with_the_last_words(one, payload, error, end):
    failed = outcome(one, *payload)
    assert (failed.error, failed.key, failed.kind) == (error, None, "lost")
    assert end in failed.traceback
    assert outcome(one, "echo", 1) == Done(1)


def test_last_words_are_of_this_job_only(one):
    outcome(one, "printing", "earlier job")
    assert outcome(one, "exit", 3).traceback == "last words"


def test_a_rank_killed_from_outside_costs_one_job(two):
    ended = {}
    for event in two.run([Job("hit", ("sleep", 1000)), Job("spared", ("sleep", 0.5))]):
        if isinstance(event, Progress) and event.job.id == "hit":
            os.kill(event.value, signal.SIGKILL)
        if isinstance(event, Finished):
            ended[event.job.id] = event.outcome
    assert ended["hit"].error == "rank 0 died: killed by signal 9 (SIGKILL)"
    assert ended["spared"] == Done(None)


def test_an_idle_rank_that_was_killed_costs_nothing(one):
    pid = outcome(one, "pid").value
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: not alive(pid))
    assert outcome(one, "echo", 1) == Done(1)


def test_a_dead_nursery_costs_only_the_running_jobs(two):
    nursery = two._nursery._server.pid
    jobs = [Job("a", ("sleep", 1000)), Job("b", ("sleep", 1000)), Job("c", ("echo", 1))]
    ended, ranks = {}, []
    for event in two.run(jobs):
        if isinstance(event, Progress):
            ranks.append(event.value)
            if len(ranks) == 2:
                os.kill(nursery, signal.SIGKILL)
        if isinstance(event, Finished):
            ended[event.job.id] = event.outcome
    assert ended["c"] == Done(1)
    assert "died" in ended["a"].error
    assert "died" in ended["b"].error
    assert until(lambda: not any(alive(rank) for rank in ranks))


def test_a_rank_ignores_an_interrupt(one):
    for event in one.run([Job("job", ("sleep", 0.3))]):
        if isinstance(event, Progress):
            os.kill(event.value, signal.SIGINT)
    assert event.outcome == Done(None)


def test_a_job_is_killed_after_its_time(one):
    *_, progress, finished = one.run([Job("job", ("sleep", 1000), timeout=0.3)])
    assert finished.outcome == TimedOut(0.3)
    assert until(lambda: not alive(progress.value))
    assert outcome(one, "echo", 1) == Done(1)


def test_what_a_rank_started_dies_with_it(one):
    *_, progress, _ = one.run([Job("job", ("grandchild",), timeout=0.5)])
    assert until(lambda: not alive(progress.value))


def test_closing_the_iterator_kills_what_runs(one):
    events = one.run([Job("job", ("sleep", 1000))])
    pid = next(e.value for e in events if isinstance(e, Progress))
    events.close()
    assert until(lambda: not alive(pid))
    assert outcome(one, "echo", 1) == Done(1)


def test_closing_the_slots_kills_what_runs():
    with Slots(TOY, 1, 1) as slots:
        events = slots.run([Job("job", ("grandchild",))])
        grandchild = next(e.value for e in events if isinstance(e, Progress))
        below, folder = descendants(os.getpid()), slots._nursery.folder
        assert grandchild in below
    assert until(lambda: not alive(grandchild))
    assert not folder.exists()


def test_one_run_at_a_time(one):
    events = one.run([Job("job", ("echo", 1))])
    next(events)
    with pytest.raises(RuntimeError, match="running"):
        next(one.run([]))
    events.close()


@pytest.mark.parametrize(
    ("worker", "text", "key"),
    [
        (
            "tests.dist.workers:Broken",
            "tests.dist.workers:Broken: device: no such device",
            "device",
        ),
        ("tests.dist.workers:Missing", "has no attribute 'Missing'", None),
        ("tests.dist.nowhere:Toy", "No module named 'tests.dist.nowhere'", None),
    ],
)
def test_a_worker_that_cannot_be_made_stops_the_run(worker, text, key):
    with Slots(worker, 1, 1) as slots, pytest.raises(StartError) as caught:
        list(slots.run([Job("job", None)]))
    assert text in str(caught.value)
    assert "Traceback" in caught.value.failed.traceback
    assert caught.value.failed.key == key


@pytest.mark.parametrize(("worker", "slots", "ranks"), [("x", 1, 1), (TOY, 0, 1), (TOY, 1, 0)])
def test_senseless_arguments_start_nothing(worker, slots, ranks):
    with pytest.raises(ValueError, match="Slots"):
        Slots(worker, slots, ranks)


def test_threads_are_set_for_the_ranks_alone(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    before = dict(os.environ)
    with Slots(TOY, 1, 1, threads=2) as slots:
        assert outcome(slots, "environment") == Done((["2", "passive"], []))
    assert dict(os.environ) == before


def test_what_ranks_print_goes_to_the_log(tmp_path, capfd):
    log = tmp_path / "ranks.log"
    with Slots(TOY, 1, 1, log=log) as slots:
        assert outcome(slots, "printing", "hello") == Done(None)
        assert isinstance(outcome(slots, "exit", 1), Failed)
    assert log.read_text() == (
        "--- job job, slot 0, rank 0\nhello\n\n--- job job, slot 0, rank 0\nlast words\n\n"
    )
    assert capfd.readouterr() == ("", "")


def test_nothing_grows_with_the_number_of_jobs(one):
    def descriptors():
        return outcome(one, "descriptors").value, len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    list(one.run(Job(str(i), ("exit", 1) if i % 20 == 0 else ("echo", i)) for i in range(200)))
    assert descriptors() == before


def test_the_parent_needs_no_torch():
    program = "import sys, gymspace.dist.slots; sys.exit('torch' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
