"""A dry run: what it says, what it measures, what it leaves alone."""

from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from gymspace.dist.jobs import Done, Failed, Finished, Progress, Started, TimedOut
from gymspace.errors import ConfigError
from gymspace.records import Inspect
from gymspace.records import Progress as Epoch
from gymspace.spec import parse
from gymspace.sweep import dry
from gymspace.sweep.draws.draw import Grid, Random
from gymspace.sweep.dry import Preview, Timing, clock, dry_run, timed
from gymspace.sweep.plan import Designer, plan
from gymspace.sweep.spaces.space import constrain, parse_space
from tests.sweep.launchers import Script, alike, done, result

LAYERS = {"model.layers_mp": [1, 2, 3]}


def preview(tmp_path, raw, draw=Grid, constraints=(), seeds=2, designs=None):
    space = constrain(parse_space(raw), constraints, {})
    repeats = [{"seed": seed, "fold": 0} for seed in range(seeds)]
    trials = plan(draw(space), Designer(repeats, {}, {}, lambda chosen: {}))
    return Preview(trials, space, tmp_path / "s", lambda ranks: 2, designs)


def said(asked, launch=None):
    out = StringIO()
    dry_run(asked, launch or Script(), Console(file=out, width=300))
    return out.getvalue().splitlines()


def test_it_says_what_would_run_and_times_one_trial_elsewhere(tmp_path):
    script = Script()
    lines = said(preview(tmp_path, LAYERS), script)
    assert lines[:-1] == [
        "3 designs, 6 trials; the first designs:",
        "  model.layers_mp=1",
        "  model.layers_mp=2",
        "  model.layers_mp=3",
        f"they would go to {tmp_path / 's'}",
    ]
    assert lines[-1].startswith("about ")
    assert (
        "for 6 trials, 2 at once: an estimate from 10 epochs of one trial, layers_mp=2" in lines[-1]
    )
    assert [spec.train.epochs for spec in script.ran] == [10]
    assert list(tmp_path.iterdir()) == []


def test_it_says_what_share_of_a_space_and_of_its_parts_is_drawn(tmp_path):
    raw = [{"model.layers_mp": [1]}, {"model.layers_mp": [2, 3, 4], "model.agg": ["add", "max"]}]
    lines = said(preview(tmp_path, raw, lambda space: Random(space, 4)))
    assert lines[0] == "4 of 7 designs, 8 trials; the first designs:"
    assert lines[5:7] == [
        "  sub-space 1, model.layers_mp: 1 (25%)",
        "  sub-space 2, model.layers_mp, model.agg: 3 (75%)",
    ]


def test_it_says_what_only_building_shows(tmp_path):
    lines = said(preview(tmp_path, LAYERS, constraints=["params < 9"]))
    assert "less those that break params < 9, which shows when each is built" in lines


def test_of_a_search_it_shows_a_few_designs_and_counts_what_is_asked_for(tmp_path):
    lines = said(preview(tmp_path, LAYERS, designs=40))
    assert lines[0] == "40 designs, 80 trials; the first designs:"
    assert "for 80 trials" in lines[-1]


class Ticking(Script):
    """Reports every second epoch; each takes two seconds, after three of preparation."""

    def __init__(self, clock, **answers):
        super().__init__(**answers)
        self.clock = clock

    def run(self, jobs):
        for job in jobs:
            yield Started(0, job)
            self.clock.now += 3.0
            for epoch in range(0, 0 if isinstance(job.payload, Inspect) else 10, 2):
                self.clock.now += 4.0
                yield Progress(0, job, Epoch(epoch, 10, 0.5))
            yield Finished(0, job, self._outcome(job.payload))


@pytest.fixture
def ticking(monkeypatch):
    """A launcher under a clock that it moves on."""
    time = SimpleNamespace(now=0.0)
    monkeypatch.setattr(dry.time, "perf_counter", lambda: time.now)
    return Ticking(time, inspect=alike)


def test_the_estimate_is_that_of_all_epochs_of_all_trials_over_the_slots(tmp_path, ticking):
    asked = preview(tmp_path, {"train.epochs": [100, 300]}, seeds=3)
    assert timed(asked.trials[0], ticking) == Timing(epochs=10, epoch=2.0, rest=3.0)
    seconds = 3 * (3 + 200 + 3 + 600) / 2
    assert said(asked, ticking)[-1].startswith(f"about {clock(seconds)} for 6 trials, 2 at once")


def test_what_is_finished_is_not_counted_again(tmp_path, monkeypatch):
    asked = preview(tmp_path, LAYERS)
    monkeypatch.setattr(
        "gymspace.sweep.folder.SweepFolder.result",
        lambda self, trial: result(trial.spec) if trial.spec.seed == 0 else None,
    )
    lines = said(asked)
    assert lines[-2] == "3 of the trials are finished there"
    assert "for 3 trials" in lines[-1]
    monkeypatch.setattr("gymspace.sweep.folder.SweepFolder.result", lambda *_: result(parse({})))
    assert said(asked)[-1] == "6 of the trials are finished there"


@pytest.mark.parametrize(
    ("run", "inspect", "problem"),
    [
        (done, lambda spec: Failed("model.agg=x: no", "", "model.agg"), "model.agg=x: no"),
        (lambda spec: Failed("ValueError: no", ""), alike, "did not end well: ValueError: no"),
        (lambda spec: TimedOut(2.0), alike, "took more than trial.timeout=2 s"),
        (
            lambda spec: Done(result(spec, status="diverged", error="loss is nan")),
            alike,
            "diverged: loss is nan",
        ),
    ],
)
def test_a_timed_trial_that_does_not_end_well_is_told(tmp_path, run, inspect, problem):
    with pytest.raises(ConfigError, match=problem):
        said(preview(tmp_path, LAYERS), Script(run, inspect))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1234, "0.123 s"), (59.4, "59.4 s"), (61, "0:01:01"), (36000, "10:00:00")],
)
def test_a_duration_is_read_at_a_glance(seconds, text):
    assert clock(seconds) == text
