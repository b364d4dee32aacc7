"""Which epoch is the best, when to stop, and what is to be said of a trial at its end."""

import math

import pytest

from gymspace.training.course import Course
from gymspace.training.fit import Epoch
from gymspace.training.states import Value


def epoch(number, loss=1.0, **scores):
    """An epoch whose losses are ``loss`` unless they are given."""
    losses = {f"{split}_loss": loss for split in ("train", "val", "test")} if scores else {}
    values = {name: Value(value, 1, 0) for name, value in {**losses, **scores}.items()}
    return Epoch(number, 0.1, 0.0, loss, values)


def course_of(values, metric="accuracy", direction="max", tests=None):
    """The course after epochs with these validation and test values."""
    course = Course(metric, direction)
    for number, value in enumerate(values):
        test = tests[number] if tests else value
        scores = {f"val_{metric}": value, f"test_{metric}": test}
        course = course.after(epoch(number, **scores))
    return course


@pytest.mark.parametrize(
    ("values", "direction", "best"),
    [
        ([0.5, 0.9, 0.6], "max", 1),
        ([0.5, 0.9, 0.9], "max", 1),
        ([0.7, 0.7, 0.7], "max", 0),
        ([0.3, 0.1, 0.1], "min", 1),
        ([-1.0, -math.inf, -2.0], "max", 0),
    ],
)
def test_ties_take_the_earliest_epoch(values, direction, best):
    assert course_of(values, direction=direction).best_epoch == best


def test_the_least_error_is_the_best():
    """Field case B1: a metric knows its direction."""
    assert course_of([1.0, 0.2, 0.9], "mae", "min").outcome()["best_epoch"] == 1


@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("values", [[math.nan, 0.5], [0.5, math.nan], [math.nan, 0.5, math.nan]])
def test_nan_is_never_the_best(values, direction):
    """Field case B2: wherever it stands, and in both directions."""
    course = course_of(values, direction=direction)
    assert course.best_epoch == values.index(0.5)
    assert course.outcome()["val_accuracy"] == 0.5


def test_a_trial_of_only_nan_has_failed():
    """Field case B2: there is no epoch to choose, and no score."""
    outcome = course_of([math.nan] * 3, "auc").outcome()
    assert outcome == {
        "status": "failed",
        "error": "val_auc was undefined at every evaluation: no epoch to choose",
        "best_epoch": None,
        "epochs": 3,
    }


def test_the_test_score_is_the_one_at_the_epoch_that_validation_chose():
    """Field case B3."""
    outcome = course_of([0.5, 0.9, 0.6], tests=[0.95, 0.70, 0.80]).outcome()
    assert outcome["test_accuracy"] == 0.70
    assert outcome["status"] == "done"


def test_what_was_undefined_at_the_best_epoch_is_told():
    course = Course("auc", "max").after(
        Epoch(0, 0.1, 0.0, 1.0, {"train_loss": Value(1, 1, 0), "val_auc": Value(0.5, 4, 2)})
    )
    assert course.outcome()["undefined"] == {"val_auc": 2}


@pytest.mark.parametrize("name", ["train_loss", "val_loss"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_ends_the_trial(name, value):
    """Field case B4: a run without a loss keeps no accuracy either."""
    course = course_of([0.5, 0.6]).after(epoch(2, val_accuracy=0.9, **{name: value}))
    assert course.stops(None)
    assert course.outcome() == {
        "status": "diverged",
        "error": f"{name} was {value} at epoch 2",
        "best_epoch": None,
        "epochs": 3,
    }


def test_the_training_loss_counts_also_where_nothing_was_evaluated():
    """Field case B4: it is not left to the next evaluation."""
    course = course_of([0.5]).after(epoch(1, loss=math.nan))
    assert course.stops(None)
    assert course.outcome()["error"] == "training loss was nan at epoch 1"


def test_the_test_loss_has_no_say():
    course = course_of([0.5]).after(epoch(1, val_accuracy=0.9, test_loss=math.nan))
    assert course.outcome()["status"] == "done"


@pytest.mark.parametrize(
    ("losses", "status"),
    [
        ([2.3, 1e5, 2.2e2], "done"),
        ([2.3, 1.0, 2.4e2], "diverged"),
        ([0.001, 99.0], "done"),
        ([1e6, 1e7], "done"),
        ([1e6, 1.1e8], "diverged"),
    ],
)
def test_a_training_loss_that_ends_far_above_its_start_has_diverged(losses, status):
    """Field case B4: also while it is finite; a rise that the training recovers from is none."""
    course = Course("accuracy", "max")
    for number, loss in enumerate(losses):
        course = course.after(epoch(number, loss, val_accuracy=0.5))
        assert not course.stops(None)
    assert course.outcome()["status"] == status


def test_patience_counts_epochs_since_the_best():
    course = Course("accuracy", "max")
    stops = []
    for number, value in enumerate([0.5, 0.6, 0.6, 0.5, 0.7, 0.1, 0.1, 0.1]):
        course = course.after(epoch(number, val_accuracy=value))
        stops.append(course.stops(3))
    assert stops == [False] * 7 + [True]
    assert course.outcome()["best_epoch"] == 4
    assert not course.stops(None)


def test_patience_also_ends_a_trial_that_has_no_best_epoch():
    assert [course_of([math.nan] * n).stops(3) for n in (2, 3)] == [False, True]


def test_patience_waits_for_an_evaluation():
    """An epoch that was not evaluated might have been a better one."""
    course = Course("accuracy", "max")
    stops = []
    for number in range(15):
        scores = {"val_accuracy": 0.5} if number % 5 == 4 else {}
        course = course.after(epoch(number, **scores))
        stops.append(course.stops(3))
    assert stops.index(True) == 9


def test_an_epoch_that_was_not_evaluated_counts_as_done():
    course = course_of([0.5]).after(epoch(1))
    assert (course.epochs, course.best_epoch) == (2, 0)
