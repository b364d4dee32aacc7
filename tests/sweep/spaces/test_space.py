"""The space of a sweep: what is written, what a command line makes of it, what is in it."""

import pytest
from hypothesis import given

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.space import (
    Dimension,
    Range,
    constrain,
    identity,
    override,
    parse_space,
)
from tests.sweep.drawn import unions


def test_a_list_and_a_full_dimension_mean_the_same_but_for_the_alias():
    short, full = parse_space({"a": [1, 2], "b": {"choices": [1, 2], "alias": "x"}}).dimensions
    assert (short.choices, short.alias) == ((1, 2), None)
    assert (full.choices, full.alias) == ((1, 2), "x")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "sweep.space: is a union of nothing"),
        ("a", "sweep.space=a: must be {key: choices}"),
        ([{"a": [1]}, 3], "must be {key: choices}, or a list of such"),
        ({"a": []}, "sweep.space.a: has no choices"),
        ({"a": {"choices": []}}, "sweep.space.a: has no choices"),
        ({"a": [1, 2, 1]}, "sweep.space.a=1: is given twice"),
        ({"a": [0.01, 1e-2]}, "sweep.space.a=0.01: is given twice"),
        ({"a": [{"name": "gat"}, {"name": "gat"}]}, "is given twice"),
        ({"a": 3}, "sweep.space.a=3: must be a list of choices"),
        ({"a": "stack"}, "sweep.space.a=stack: must be a list of choices"),
        ({"a": None}, "must be a list of choices"),
        ({"a": {"x": [1]}}, "must be a list of choices"),
        ({"a": {"choices": [1], "alas": "b"}}, "has unknown keys ['alas']"),
        ({"a": {"choices": [1], "alias": 3}}, "sweep.space.a.alias=3: must be a name"),
        ({"a": {"choices": [1], "low": 1, "high": 2}}, "sweep.space.a: has choices and a range"),
        ({"seed": [1, 2]}, "set sweep.seeds"),
        ({"fold": [1, 2]}, "set sweep.folds"),
    ],
)
def test_a_space_that_is_none(raw, problem):
    with pytest.raises(ConfigError) as error:
        parse_space(raw)
    assert problem in str(error.value)


@pytest.mark.parametrize("choices", [[1, True], [1, 1.0], ["1", 1], [None, "None"], [False, 0]])
def test_what_python_calls_equal_is_two_choices(choices):
    """Field case A3: two designs that look alike must not become one."""
    space = parse_space({"a": choices})
    assert space.dimensions[0].choices == tuple(choices)
    assert space.size == len({identity(design) for design in space.designs()}) == 2


# Ranges


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ({"low": 1, "high": 4}, [1, 2, 3, 4]),
        ({"low": 16, "high": 64, "step": 16}, [16, 32, 48, 64]),
        ({"low": 0.1, "high": 0.5, "step": 0.1}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"low": 0, "high": 1, "step": 0.5}, [0.0, 0.5, 1.0]),
        ({"low": 2, "high": 4, "log": True}, [2, 3, 4]),
    ],
)
def test_a_range_that_can_be_counted_has_its_values(raw, values):
    (dimension,) = parse_space({"a": raw}).dimensions
    assert [repr(value) for value in dimension.values] == [repr(value) for value in values]
    assert dimension.size == len(values)
    assert all(value in dimension for value in values)
    assert {dimension.at(share / 100) for share in range(100)} == set(values)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"low": 2, "high": 1}, "is upside down: low=2 is not below high=1"),
        ({"low": 1, "high": 1}, "is upside down"),
        ({"low": 0, "high": 1, "log": True}, "is logarithmic, so low=0 must be above 0"),
        ({"low": -1.0, "high": 1.0, "log": True}, "low=-1.0 must be above 0"),
        ({"low": 1, "high": 10, "step": 4}, "has step=4, which does not lead from 1 to 10"),
        ({"low": 0.0, "high": 1.0, "step": 0.3}, "has step=0.3"),
        ({"low": 1, "high": 9, "step": 0}, "has step=0"),
        ({"low": 1, "high": 9, "step": -2}, "has step=-2"),
        ({"low": 1, "high": 9, "step": 2, "log": True}, "not both"),
        ({"low": 1}, "is a range without high"),
        ({"high": 1}, "is a range without low"),
        ({"low": "1", "high": 2}, "needs numbers"),
        ({"low": True, "high": 2}, "needs numbers"),
        ({"low": 0.0, "high": float("inf")}, "needs numbers"),
        ({"low": 1, "high": 2, "log": "yes"}, "sweep.space.a.log=yes: must be true or false"),
    ],
)
def test_a_range_that_is_none(raw, problem):
    with pytest.raises(ConfigError) as error:
        parse_space({"a": raw})
    assert str(error.value).startswith("sweep.space.a")
    assert problem in str(error.value)


def test_a_space_with_a_continuous_range_has_no_size():
    assert parse_space({"a": [1, 2], "b": {"low": 0.0, "high": 1.0}}).size is None


# Conditions, zips, unions


def test_a_dimension_exists_only_where_its_condition_holds():
    space = parse_space(
        {
            "heads": {"choices": [2, 4], "when": {"layer": ["gat", "gatv2"]}},
            "layer": ["gcn", {"name": "gat", "bias": False}, "gatv2"],
            "beta": {"choices": [True], "when": {"heads": 4, "layer": "gatv2"}},
        }
    )
    gat = {"name": "gat", "bias": False}
    assert list(space.designs()) == [
        {"layer": "gcn"},
        {"layer": gat, "heads": 2},
        {"layer": gat, "heads": 4},
        {"layer": "gatv2", "heads": 2},
        {"layer": "gatv2", "heads": 4, "beta": True},
    ]
    assert space.size == 5


def test_zipped_dimensions_move_together():
    space = parse_space({"a": {"choices": ["x", "y", "x"], "with": "b"}, "b": [1, 2, 3]})
    assert list(space.designs()) == [{"b": 1, "a": "x"}, {"b": 2, "a": "y"}, {"b": 3, "a": "x"}]


def test_a_union_has_a_design_of_two_parts_once():
    space = parse_space([{"a": [1, 2], "b": [1]}, {"b": [1, 2], "a": [2]}])
    assert [(d["a"], d["b"]) for d in space.designs()] == [(1, 1), (2, 1), (2, 2)]
    assert [space.part_of(design) for design in space.designs()] == [0, 0, 1]
    assert [(d.key, d.choices) for d in space.dimensions] == [("a", (1, 2)), ("b", (1, 2))]


@given(unions)
def test_every_design_is_known_by_its_sub_space(raw):
    space = parse_space(raw)
    for design in list(space.designs())[:50]:
        part = space.parts[space.part_of(design)]
        assert part.holds(design)
        assert not part.holds({**design, "z": 1})
        assert not any(part.holds({**design, key: 99}) for key in design)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"a": {"choices": [1], "when": {"b": 1}}}, "sweep.space.a.when=b: is no dimension"),
        ({"a": {"choices": [1], "with": "b"}}, "sweep.space.a.with=b: is no dimension"),
        ({"b": [1], "bc": [1], "a": {"choices": [1], "when": {"c": 1}}}, "choices: b, bc"),
        ({"a": {"choices": [1], "when": {"b": 3}}, "b": [1, 2]}, "a.when.b=3: is no choice of"),
        ({"a": {"choices": [1], "when": 3}}, "sweep.space.a.when=3: must be {other"),
        ({"a": {"choices": [1], "with": 3}}, "sweep.space.a.with=3: must be the key"),
        ({"a": {"choices": [1], "with": "b"}, "b": [1, 2]}, "a.with=b: has 2 choices, not 1"),
        ({"a": {"low": 1, "high": 2, "with": "b"}, "b": [1, 2]}, "needs choices, not a range"),
        (
            {"a": [1], "b": {"choices": [1], "with": "a"}, "c": {"choices": [1], "with": "b"}},
            "sweep.space.c.with=b: goes with a itself",
        ),
        (
            {"a": {"low": 1, "high": 2}, "b": {"choices": [1], "when": {"a": 1}}},
            "sweep.space.b.when=a: is a range without a step",
        ),
        ({"a": {"choices": [1], "with": "a"}}, "sweep.space.a: depends on itself"),
        (
            {"a": {"choices": [1], "when": {"b": 1}}, "b": {"choices": [1], "when": {"a": 1}}},
            "sweep.space.a: depends on itself, by when or with among a, b",
        ),
        ([{"b": [1]}, {"a": {"choices": [1], "when": {"b": 1}}}], "a.when=b: is no dimension"),
    ],
)
def test_a_condition_that_is_none(raw, problem):
    with pytest.raises(ConfigError) as error:
        parse_space(raw)
    assert problem in str(error.value)


# Constraints


def test_a_constraint_sees_the_base_where_there_is_no_choice():
    space = parse_space({"model.layers_mp": [1, 2, 3], "model.layer": ["gcn", "gat"]})
    base = {"model": {"dim_inner": 6}}
    texts = ["model.dim_inner % (2 * model.layers_mp) == 0", "model.layer != 'gat' or params < 9"]
    constrained = constrain(space, texts, base)
    assert [d["model.layers_mp"] for d in constrained.designs()] == [1, 1, 3, 3]
    assert (constrained.size, space.size) == (4, 6)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a > 9", "sweep.constraints=a > 9: is met by no design"),
        ("a > b", "sweep.constraints=a > b: is met by no design"),
        ("optim.lr > 1", "optim.lr > 1: is met by no design"),
        ("c > 1", "c is no key of a design"),
    ],
)
def test_a_constraint_that_nothing_meets_or_nobody_knows_is_told(text, problem):
    with pytest.raises(ConfigError) as error:
        constrain(parse_space([{"a": [1, 2], "b": [2, 3]}, {"a": [2], "b": [7]}]), [text], {})
    assert problem in str(error.value)


def test_a_constraint_knows_arguments_that_are_given_somewhere():
    space = parse_space({"model.layer": ["gcn", {"name": "gat", "heads": 3}]})
    assert constrain(space, ["model.dim_inner % model.layer.heads == 0"], {}).size == 1


# The command line


def test_a_command_line_narrows_widens_and_adds():
    space = parse_space({"a": {"choices": [1, 2], "alias": "x"}, "b": [3, 4]})
    given = override(space, {"a": [2], "c": [5, 6]})
    assert given.dimensions == (
        Dimension("a", (2,), "x"),
        Dimension("b", (3, 4)),
        Dimension("c", (5, 6)),
    )
    assert override(space, {}) == space


def test_a_command_line_may_not_repeat_a_choice():
    with pytest.raises(ConfigError, match="is given twice"):
        override(parse_space({"a": [1, 2]}), {"a": [2, 2]})


def test_a_command_line_puts_a_range_in_place_of_choices_and_back():
    space = override(parse_space({"a": [1, 2]}), {"a": Range.of(0.1, 0.5)})
    assert (space.dimensions[0].choices, space.size) == ((), None)
    assert override(space, {"a": [3]}).dimensions == (Dimension("a", (3,)),)
    with pytest.raises(ConfigError, match="upside down"):
        override(space, {"a": Range.of(2, 1)})


def test_a_command_line_reaches_every_sub_space_that_has_the_key_and_adds_to_all():
    space = parse_space([{"a": [1, 2]}, {"b": [1], "a": [3]}, {"b": [2]}])
    given = override(space, {"a": [5], "c": [0]})
    assert list(given.designs()) == [
        {"a": 5, "c": 0},
        {"b": 1, "a": 5, "c": 0},
        {"b": 2, "c": 0},
    ]


def test_what_is_zipped_or_conditional_follows_a_narrowed_dimension():
    raw = {
        "a": [1, 2, 3],
        "b": {"choices": ["x", "y", "z"], "with": "a"},
        "c": {"choices": [7, 8], "when": {"a": 1}},
    }
    assert list(override(parse_space(raw), {"a": [3, 2]}).designs()) == [
        {"a": 3, "b": "z"},
        {"a": 2, "b": "y"},
    ]
    with pytest.raises(ConfigError, match=r"^sweep\.space\.b\.with=a: has 3 choices, not 1"):
        override(parse_space(raw), {"b": ["x"]})
    with pytest.raises(ConfigError, match=r"^sweep\.space\.b\.with=a: "):
        override(parse_space(raw), {"a": [1, 9]})


def test_a_choice_that_comes_twice_in_a_zip_is_one_choice_of_the_union():
    parts = [{"a": [1, 2], "d": [2]}, {"a": [1, 2], "d": {"choices": [1, 1], "with": "a"}}]
    d = {dimension.key: dimension for dimension in parse_space(parts).dimensions}["d"]
    assert (d.choices, d.zipped) == ((2, 1), None)
