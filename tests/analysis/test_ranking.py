"""Rankings within matched groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gymspace.analysis.levels import text
from gymspace.analysis.load import load_study
from gymspace.analysis.ranking import rank, rank_all, sentences, single, summary, within
from gymspace.analysis.study import study
from gymspace.errors import ConfigError
from gymspace.results.graphgym import import_graphgym
from tests.results.graphgym_tables import controlled

GAINS = arrays(float, (5, 4), elements=st.sampled_from([0.0, 0.1, 0.11, 0.2, np.nan]))
EVERY = ("done", "diverged")


def averages(ranking):
    table = ranking.choices
    return dict(zip(map(text, table["choice"]), table["average_rank"].round(3), strict=True))


def test_the_planted_order_is_found(made):
    ranking = rank(made(noise=0.0), "act")
    assert averages(ranking) == {"prelu": 2, "relu": 1, "swish": 3}
    assert (ranking.used, ranking.partial, ranking.alone) == (16, 0, 0)
    assert ranking.by_task["groups"].tolist() == [8, 8]
    assert ranking.test.w == 1


def test_choices_within_the_tolerance_tie():
    gains = np.array([[0.90, 0.89, 0.88, 0.5]])
    assert within(gains).tolist() == [[1, 2, 3, 4]]
    # 0.90 and 0.88 are apart, 0.89 is near both: no chain makes the three one.
    assert within(gains, 0.015).tolist() == [[1, 1, 2, 4]]
    assert within(gains, 0.015, "average").tolist() == [[1.5, 2, 2.5, 4]]


@given(GAINS, st.sampled_from([0.0, 0.05]))
def test_average_ranks_of_a_group_have_a_constant_sum(gains, tolerance):
    gains = gains[np.isfinite(gains).any(axis=1)]
    count = np.isfinite(gains).sum(axis=1)
    ranks = within(gains, tolerance, "average")
    assert np.allclose(np.nansum(ranks, axis=1), count * (count + 1) / 2)


@given(GAINS)
def test_without_tolerance_ranks_are_those_of_pandas(gains):
    gains = gains[np.isfinite(gains).any(axis=1)]
    for ties in ("min", "average"):
        expected = pd.DataFrame(gains).rank(axis=1, ascending=False, method=ties)
        np.testing.assert_array_equal(within(gains, 0.0, ties), expected)


def test_the_order_of_rows_changes_nothing(grid):
    trials = grid()
    for frame in (trials[::-1], trials.sample(frac=1, random_state=1)):
        tables = [
            summary(rank_all(study(f, ["act", "bn", "depth"], "val_accuracy")))
            for f in (trials, frame)
        ]
        pd.testing.assert_frame_equal(*tables)


def test_other_names_of_choices_permute_the_ranks(grid):
    trials = grid()
    named = trials.assign(act=trials["act"].map({"relu": "z", "prelu": "y", "swish": "x"}))
    a, b = (
        averages(rank(study(f, ["act", "bn", "depth"], "val_accuracy"), "act"))
        for f in (trials, named)
    )
    assert b == {"z": a["relu"], "y": a["prelu"], "x": a["swish"]}


def test_half_finished_groups_are_dropped_and_counted(grid):
    """Field case B5."""
    trials = grid(tasks=1, seeds=1)
    lost = (trials["act"] == "relu") & trials["bn"] & (trials["depth"] == 2)
    trials.loc[lost, "status"] = "failed"
    some = study(trials, ["act", "bn", "depth"], "val_accuracy")
    ranking = rank(some, "act")
    assert (ranking.used, ranking.partial) == (7, 1)
    assert rank(some, "act", complete=False).used == 8
    assert sentences(some, [ranking]) == [
        "1 trial failed is left out",
        "act: 1 group is partial; 1 has no relu",
    ]


def test_null_and_its_look_alikes_are_ranked_choices():
    """Field case B7."""
    choices = [None, "null", True, "True", 1.5]
    trials = pd.DataFrame({"clip": pd.Series(choices * 2, dtype=object), "lr": [1] * 5 + [2] * 5})
    ranking = rank(study(trials.assign(acc=range(10)), ["clip", "lr"], "acc"), "clip")
    found = averages(ranking)
    assert found == {"(empty)": 5, '"null"': 4, "true": 3, '"True"': 2, "1.5": 1}


def test_arguments_of_a_choice_do_not_keep_it_from_meeting_another():
    """A key that only some designs have: gat's heads are compared among gat alone."""
    rows = [("gcn", np.nan, 0.5), ("gat", 2, 0.6), ("gat", 4, 0.8)]
    trials = pd.DataFrame(rows, columns=["layer", "layer.heads", "acc"])
    made = study(trials, ["layer", "layer.heads"], "acc")
    layers = rank(made, "layer")
    assert averages(layers) == {"gat": 1, "gcn": 2}
    assert layers.choices.set_index("choice")["gain"].to_dict() == pytest.approx(
        {"gat": 0.7, "gcn": 0.5}
    )
    heads = rank(made, "layer.heads")
    assert averages(heads) == {"2.0": 2, "4.0": 1}
    assert (heads.used, heads.alone) == (1, 1)


def test_repeats_are_averaged_or_taken_one_by_one(made):
    whole = made(tasks=1, seeds=3, noise=0.05)
    assert rank(whole, "act").used == 8
    assert rank(whole, "act", repeats="each").used == 24


def test_groups_of_a_draw_stay_apart():
    """Two groups of a controlled draw may agree in all other dimensions by chance."""
    rows = [(0, "a", 0.1), (0, "b", 0.2), (1, "a", 0.9), (1, "b", 0.8)]
    trials = pd.DataFrame(rows, columns=["group", "act", "acc"])
    made = study(trials, ["act"], "acc", blocks=["group"])
    assert averages(rank(made, "act")) == {"a": 1.5, "b": 1.5}
    assert rank(study(trials, ["act"], "acc"), "act").used == 1


def test_only_rows_drawn_for_a_dimension_rank_it(tmp_path):
    """A controlled draw: what meets by chance, drawn for another dimension, counts for nothing."""
    import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    found = rank_all(load_study(tmp_path / "out", keep=EVERY))
    assert averages(found["bn"]) == {"true": 1, "false": 2}
    assert averages(found["epoch"]) == {"100": 3, "200": 2, "400": 1}
    assert (found["act"].used, found["act"].partial) == (1, 1)
    assert rank(load_study(tmp_path / "out"), "bn").used == 2


@pytest.mark.parametrize(
    ("dimension", "options", "line"),
    [
        ("agg", {}, "dimension=agg: no such dimension; choices: act, bn, one, lonely"),
        ("one", {}, "dimension=one: has one choice, 3: nothing to rank"),
        ("lonely", {}, "dimension=lonely: no two designs differ in it alone"),
        ("act", {"tolerance": -1}, "tolerance=-1: must be 0 or more"),
        ("act", {}, "dimension=act: none of its 2 groups has all choices"),
    ],
)
def test_what_cannot_be_ranked_is_told(dimension, options, line):
    trials = pd.DataFrame(
        {
            "act": ["a", "b", "b", "c"],
            "bn": [True, True, False, False],
            "one": 3,
            "lonely": [0, 0, 1, 1],
            "acc": range(4),
        }
    )
    made = study(trials, ["act", "bn", "one", "lonely"], "acc")
    with pytest.raises(ConfigError, match=line):
        rank(made, dimension, **options)


def test_a_study_where_nothing_meets_is_told():
    trials = pd.DataFrame({"a": [0, 1], "b": [0, 1], "acc": [0.1, 0.2]})
    with pytest.raises(ConfigError, match="no two designs differ in one dimension alone"):
        rank_all(study(trials, ["a", "b"], "acc"))


PUBLISHED = {
    "bn": {"true": 1.281, "false": 1.625},
    "act": {"prelu": 1.511, "relu": 1.938, "swish": 2.042},
    "agg": {"add": 1.495, "mean": 1.916, "max": 2.179},
    "optim": {"adam": 1.323, "sgd": 1.573},
    "drop": {"0.0": 1.553, "0.3": 1.766, "0.6": 2.351},
}


def test_the_published_study_ranks_as_it_should(shared_data, tmp_path):
    """All groups; then complete ones; then within a tolerance; then without diverged rows."""
    source = shared_data / "graphgym_results" / "design_v1_grid_round1"
    import_graphgym(source / "agg" / "val.csv", tmp_path / "out")
    whole = load_study(tmp_path / "out", keep=EVERY)
    every = rank_all(whole, complete=False)
    assert len(every) == 12
    assert {name: averages(every[name]) for name in PUBLISHED} == PUBLISHED
    complete = rank_all(whole)
    changed = {n for n in every if averages(every[n]) != averages(complete[n])}
    assert changed == {"act", "lr"}
    assert averages(complete["act"]) == {"prelu": 1.511, "relu": 1.947, "swish": 2.053}
    near = rank(whole, "act", tolerance=0.02)
    assert averages(near) == {"prelu": 1.17, "relu": 1.447, "swish": 1.66}
    sound = rank(load_study(tmp_path / "out"), "optim")
    assert (sound.used, averages(sound)) == (90, {"adam": 1.3, "sgd": 1.589})


def test_means_over_unequal_repeats_are_counted(grid):
    trials = grid(tasks=1, seeds=3)
    lost = (trials["act"] == "relu") & (trials["depth"] == 2) & (trials["seed"] > 0)
    some = study(trials[~lost], ["act", "bn", "depth"], "val_accuracy")
    said = sentences(some, rank_all(some).values())
    assert said == ["groups of means over unequal numbers of repeats: act 2, depth 2"]


def test_a_dimension_with_one_choice_left_is_named(grid):
    trials = grid(tasks=1)
    trials.loc[~trials["bn"], "status"] = "diverged"
    some = study(trials, ["act", "bn", "depth"], "val_accuracy")
    assert single(some) == ["bn: one choice is left, true: not ranked"]
