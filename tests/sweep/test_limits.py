"""Time that runs out: no more trials, and a word to those that run."""

from gymspace.dist.jobs import Job
from gymspace.records import GO, Progress, Verdict
from gymspace.sweep.limits import Limits

JOB, EPOCH = Job("a", None), Progress(0, 10, 0.5)


class Endless:
    """A source without an end."""

    def __init__(self, verdict=None):
        self.verdict = verdict

    def jobs(self):
        while True:
            yield JOB

    def heard(self, job, epoch):
        return self.verdict


def limited(hours, at_end="finish", verdict=None):
    now = iter(hours)
    return Limits(1.0, at_end).start(lambda: 3600 * next(now)).limited(Endless(verdict))


def test_jobs_end_with_the_time():
    assert list(limited([0, 0.2, 0.9, 1.0]).jobs()) == [JOB, JOB]


def test_without_a_limit_jobs_end_with_the_source():
    source = Limits().start(lambda: 1e9).limited(Endless())
    assert next(source.jobs()) == JOB
    assert source.heard(JOB, EPOCH) is None


def test_running_trials_are_put_away_only_if_asked_and_when_it_is_time():
    assert limited([0, 2], "finish").heard(JOB, EPOCH) is None
    assert limited([0, 0.5], "checkpoint").heard(JOB, EPOCH) is None
    assert limited([0, 2], "checkpoint").heard(JOB, EPOCH).kind == "checkpoint"
    assert limited([0, 2], "checkpoint", GO).heard(JOB, EPOCH).kind == "checkpoint"


def test_a_trial_that_is_stopped_is_not_put_away():
    stop = Verdict("stop", "poor")
    assert limited([0, 2], "checkpoint", stop).heard(JOB, EPOCH) == stop
