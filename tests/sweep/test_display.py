"""How a sweep looks while it runs: plain lines, or a panel on a terminal."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gymspace.dist.jobs import Done, Failed, Finished, Job, Progress, Started, TimedOut
from gymspace.records import Progress as Epoch
from gymspace.records import Run
from gymspace.sweep.display import Display, Tally, label
from gymspace.sweep.draws.draw import Grid
from gymspace.sweep.plan import Designer, plan
from gymspace.sweep.spaces.space import parse_space
from tests.sweep.launchers import result


@pytest.fixture
def trials():
    space = parse_space({"model.layers_mp": [1, 2, 3, 4], "model.agg": [None]})
    return plan(Grid(space), Designer([{"seed": 0}], {}, {}, lambda chosen: {}))


def job(trial):
    return Job(trial.id, Run(trial.spec, Path(), trial.choices))


def finished(trial, outcome=None, slot=0):
    return Finished(slot, job(trial), outcome or Done(result(trial.spec)))


def shown(display):
    """The panel as text."""
    with display.console.capture() as capture:
        display.console.print(display._panel())
    return capture.get()


def plain(trials):
    out = StringIO()
    return Display(Console(file=out, width=60)), out


def test_without_a_terminal_each_trial_is_one_line(trials):
    display, out = plain(trials)
    with display:
        display.planned(4, [result(trials[3].spec)])
        display.happened(Started(0, job(trials[0])))
        display.happened(finished(trials[0]))
        display.happened(finished(trials[1], Failed("ValueError: [red]no", "")))
        display.happened(finished(trials[2], TimedOut(2.5)))
    lines = out.getvalue().splitlines()
    assert lines[0] == "4 trials, 1 of them finished before"
    assert lines[1].startswith("[2/4] done     val 0.5000  layers_mp=1 agg=None seed=0  0:00:")
    assert lines[2].startswith("[3/4] failed   ValueError: [red]no  layers_mp=2")
    assert lines[3].startswith("[4/4] timeout  after 2.5 s  layers_mp=3")
    assert len(lines) == 4
    assert "\x1b" not in out.getvalue()


def test_a_warning_is_printed(trials):
    display, out = plain(trials)
    text = "model.agg is swept, but changes nothing with model.layer=gcn, and is longer than a line"
    display.warned(text)
    assert out.getvalue() == f"warning: {text}\n"


def test_a_terminal_has_a_panel_with_all_that_goes_on(trials):
    out = StringIO()
    display = Display(Console(file=out, width=120, force_terminal=True))
    with display:
        display.planned(4, [])
        display.happened(Started(0, job(trials[0])))
        display.happened(Started(1, job(trials[1])))
        display.happened(finished(trials[0]))
        display.happened(finished(trials[1], Failed("ValueError: no", "")))
        display.happened(Started(0, job(trials[2])))
        display.happened(Started(1, job(trials[3])))
        display.happened(Progress(1, job(trials[3]), Epoch(4, 20, 0.75)))
        panel = shown(display)
    assert "2/4" in panel
    assert "left" in panel
    assert "best val 0.5000  1 failed" in panel
    workers = [" ".join(line.split()) for line in panel.splitlines() if "worker" in line]
    assert workers[0].startswith("worker 0 starting layers_mp=3")
    assert workers[1].startswith("worker 1 epoch 5/20 val 0.7500 layers_mp=4")
    assert "ValueError: no" in out.getvalue()


def test_a_worker_that_has_finished_leaves_the_panel(trials):
    display = Display(Console(file=StringIO(), force_terminal=True))
    display.planned(4, [])
    display.happened(Started(0, job(trials[0])))
    display.happened(finished(trials[0]))
    assert "worker" not in shown(display)


@pytest.mark.parametrize(("direction", "best"), [("max", 0.75), ("min", 0.25)])
def test_the_best_is_chosen_by_the_direction_of_the_metric(trials, direction, best):
    """Field case B1: a metric without a direction."""
    tally = Tally(3)
    for score in (0.5, 0.25, 0.75):
        tally.finished(result(trials[0].spec, direction=direction, val_accuracy=score))
    assert tally.best_text() == f"best val {best:.4f}"


def test_only_a_trial_that_is_done_can_be_the_best(trials):
    """Field case B4: diverged runs stay in the ranking."""
    tally = Tally(2)
    tally.finished(result(trials[0].spec, status="diverged", val_accuracy=1.0))
    assert tally.best_text() == "1 diverged"
    assert tally.done == 1


def test_the_pace_is_that_of_this_run(trials, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    tally = Tally(10, reused=4)
    tally.statuses["done"] = 4
    assert tally.left() == ""
    tally.statuses["done"] = 5
    monkeypatch.setattr("time.monotonic", lambda: 900.0)
    assert tally.left() == "1:06:40 left"


def test_a_label_names_the_choices_by_their_last_part(trials):
    assert label(trials[1]) == "layers_mp=2 agg=None seed=0"


def test_a_search_counts_designs_and_long_numbers_are_short(trials):
    display, out = plain(trials)
    trial = replace(trials[0], choices={"optim.lr": 0.012345678901})
    with display:
        display.sought(5, 2)
        display.happened(finished(trial))
        display.sought(5, 3)
        display.happened(finished(trial))
    lines = out.getvalue().splitlines()
    assert lines[0] == "5 designs, 2 of them finished before"
    assert lines[1].startswith("[2/5] done     val 0.5000  lr=0.01235 seed=0")
    assert lines[2].startswith("[3/5] done")


def test_a_trial_put_away_is_not_over(trials):
    display, out = plain(trials)
    with display:
        display.planned(4, [])
        display.happened(finished(trials[0], Done(result(trials[0].spec, status="paused"))))
    assert out.getvalue().splitlines()[1].startswith("[0/4] paused   val 0.5000")
