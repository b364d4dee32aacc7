"""What the parent says to a job that runs, and a parent that has no job right now."""

from pathlib import Path

import pytest

from gymspace.dist.slots import Done, Finished, Job, Progress, Slots, Started, Tick
from tests.dist.processes import until

TOY = "tests.dist.workers:Toy"


@pytest.fixture(scope="module")
def one():
    with Slots(TOY, 1, 1) as slots:
        yield slots


@pytest.fixture(scope="module")
def two():
    with Slots(TOY, 2, 1) as slots:
        yield slots


def answered(slots, say, *payloads):
    """The outcomes of jobs whose reports are answered by ``say``."""
    ended = []
    for event in slots.run(Job(str(i), payload) for i, payload in enumerate(payloads)):
        if isinstance(event, Progress):
            say(event)
        if isinstance(event, Finished):
            ended.append(event.outcome)
    return ended


def test_a_rank_waits_for_each_answer(one):
    ended = answered(one, lambda e: one.answer(e.slot, 10 * e.value), ("asks", 3))
    assert ended == [Done([0, 10, 20])]


def test_what_was_said_is_taken_without_waiting(one):
    assert answered(one, lambda e: one.answer(e.slot, "stop"), ("looks",)) == [Done("stop")]


def test_each_slot_is_answered_by_itself(two):
    say = lambda e: two.answer(e.slot, e.job.id)  # noqa: E731
    ended = answered(two, say, *[("asks", 2)] * 4)
    assert sorted(outcome.value for outcome in ended) == [[id] * 2 for id in "0123"]


def test_an_answer_that_comes_too_late_is_for_nobody(one):
    """Neither taken for a job nor by the next job, which waits for its own."""

    def say(event):
        if event.job.id == "0":
            assert until(one._slots[0]._children[0].conn.poll)  # its outcome is on the way
            one.answer(event.slot, "late")
        else:
            one.answer(event.slot, "right")

    assert answered(one, say, ("reports", 1), ("asks", 1)) == [Done(1), Done(["right"])]


def test_nobody_is_answered_where_no_job_runs(one):
    one.answer(0, "nobody")
    assert answered(one, lambda e: one.answer(e.slot, "right"), ("looks",)) == [Done("right")]


def test_a_source_that_has_nothing_right_now_is_asked_again_after_the_next_end(two, tmp_path):
    ended, asked = [], []

    def jobs():
        yield Job("first", ("meet", str(tmp_path), "a", "b"))
        while not ended:
            asked.append(None)
            yield None
        yield Job("second", ("echo", 1))

    for event in two.run(jobs()):
        if isinstance(event, Started):
            (tmp_path / "b").touch()
        if isinstance(event, Finished):
            ended.append(event.job.id)
    assert ended == ["first", "second"]
    assert asked == [None]


def test_a_source_that_has_nothing_while_nothing_runs_is_over(one):
    jobs = iter([Job("a", ("echo", 1)), None, Job("b", ("echo", 2))])
    assert [e.job.id for e in one.run(jobs) if isinstance(e, Finished)] == ["a"]
    assert next(jobs).id == "b"
    assert list(one.run(iter([None]))) == []


def test_time_is_told_while_a_job_is_silent_and_a_source_asked_again(tmp_path):
    ticks = []

    def jobs():
        yield Job("waits", ("meet", str(tmp_path), "a", "b"))
        while len(ticks) < 2:
            yield None
        yield Job("frees", ("meet", str(tmp_path), "b", "a"))

    with Slots(TOY, 2, 1, tick=0.01) as slots:
        for event in slots.run(jobs()):
            if isinstance(event, Tick):
                ticks.append(event)
    assert Path(tmp_path, "b").exists()


def test_no_time_is_told_unless_asked_for(one):
    assert not any(isinstance(e, Tick) for e in one.run([Job("job", ("sleep", 0.2))]))
