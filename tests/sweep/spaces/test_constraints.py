"""Constraints: what they say of a config, and what is no constraint."""

import pytest

from gymspace.errors import ConfigError
from gymspace.spec import parse
from gymspace.sweep.spaces.constraints import Constraint

CONFIG = parse(
    {"model": {"layer": {"name": "gat", "heads": 4}, "dim_inner": 64}, "encodings": ["lap"]}
).model_dump(mode="json")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("model.dim_inner % model.layer.heads == 0", True),
        ("model.dim_inner % (model.layer.heads + 1) == 0", False),
        ("model.layer == 'gat'", True),
        ("model.layer in ['gcn', 'gin']", False),
        ("model.layer != 'gat' or model.dim_inner <= 32", False),
        ("not (model.layer == 'gat' and model.layer.heads > 4)", True),
        ("1e-3 < optim.lr <= 0.1", True),
        ("model.agg == null", True),
        ("model.residual == true", False),
        ("encodings == ['lap']", True),
        ("max(model.layers_mp, model.layers_pre_mp) < 3", True),
        ("model.layer.heads ** 2 == 16 if model.layer == 'gat' else true", True),
    ],
)
def test_an_expression_over_keys_says_what_it_says(text, holds):
    constraint = Constraint.parse(text, ["model.layer.heads"])
    assert constraint.holds(CONFIG) is holds
    assert not constraint.needs_params


def test_a_design_without_the_key_is_none_of_its_business():
    constraint = Constraint.parse("model.layer.heads > 8", ["model.layer.heads"])
    assert not constraint.holds(CONFIG)
    assert constraint.holds(parse({}).model_dump(mode="json"))


def test_parameters_are_known_only_once_a_design_is_built():
    constraint = Constraint.parse("params <= 1e6 and model.layers_mp == 2")
    assert constraint.needs_params
    assert [constraint.holds(CONFIG, n) for n in (None, 10**6, 10**6 + 1)] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no expression"),
        ("model.dim_inner %", "is no expression"),
        ("model.dim_inner = 3", "is no expression"),
        ("model.dim_iner > 3", "model.dim_iner is no key of a design; choices: model.dim_inner"),
        ("heads > 3", "heads is no key of a design"),
        ("parms < 3", "did you mean params?"),
        ("model > 3", "model is no key of a design"),
        ("open('x')", "open is no function; choices: min, max, abs"),
        ("__import__('os').system('true')", "is no function"),
        ("'a'.upper() == 'A'", "is no function"),
        ("(1).real == 1", "is not allowed"),
        ("(lambda: 1)() == 1", "is no function"),
        ("max(1, key=params) == 1", "is not allowed"),
        ("[model.dim_inner for x in [1]] == []", "x is no key"),
        ("(params := 3) == 3", "is not allowed"),
    ],
)
def test_what_is_no_constraint_is_told_with_its_text(text, problem):
    with pytest.raises(ConfigError) as error:
        Constraint.parse(text)
    assert str(error.value).startswith(f"sweep.constraints={text}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model.layer % 2 == 0", "cannot be evaluated with model.layer=gat: "),
        ("model.dim_inner / 0 == 1", "cannot be evaluated with model.dim_inner=64: division by"),
        ("model.dim_inner", "is no comparison: it gives 64"),
        ("9 ** 9 ** 9 ** 9 > 1", "cannot be evaluated"),
    ],
)
def test_what_cannot_be_evaluated_is_told_with_the_values(text, problem):
    with pytest.raises(ConfigError) as error:
        Constraint.parse(text).holds(CONFIG)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
