import pickle

from gymspace.errors import ConfigError


def test_the_line_has_key_value_problem_choices_and_the_nearest():
    error = ConfigError("act", "unknown name", value="rellu", choices=["relu", "tanh"])
    assert str(error) == "act=rellu: unknown name; choices: relu, tanh; did you mean relu?"


def test_a_missing_value_is_left_out_and_none_is_shown():
    assert str(ConfigError("seed", "is missing")) == "seed: is missing"
    assert str(ConfigError("seed", "must be a number", value=None)) == "seed=None: must be a number"


def test_what_is_looked_for_may_differ_from_the_value():
    error = ConfigError("a.hed", "no such", value=4, choices=["heads", "bias"], near="hed")
    assert str(error) == "a.hed=4: no such; choices: heads, bias; did you mean heads?"


def test_nothing_is_suggested_that_is_far_away():
    assert "did you mean" not in str(ConfigError("act", "no", value="xyz", choices=["relu"]))


def test_line_breaks_in_what_others_say_stay_out():
    assert str(ConfigError("a", "first\nsecond\n", value="b\nc")) == "a=b c: first second"


def test_it_crosses_a_pipe_whole():
    error = ConfigError("optim.lr", "must be a number", value="x", choices=["y"])
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.key) == (ConfigError, str(error), "optim.lr")
