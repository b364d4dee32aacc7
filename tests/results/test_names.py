"""Aliases and columns: results and choices never share a name."""

import subprocess
import sys

import pytest

from gymspace.errors import ConfigError
from gymspace.results.names import aliases, columns


def test_alias_is_explicit_or_last_segment():
    varied = ["model.layers_mp", "model.stage"]
    assert aliases(varied, {"model.layers_mp": "l_mp"}, ["accuracy"]) == {
        "model.layers_mp": "l_mp",
        "model.stage": "stage",
    }


def test_alias_of_a_key_that_does_not_vary_is_ignored():
    assert aliases(["model.stage"], {"optim.lr": "stage"}, []) == {"model.stage": "stage"}


@pytest.mark.parametrize(
    ("varied", "explicit"),
    [
        (["model.name", "data.name"], {}),
        (["a.epoch", "b.accuracy_std"], {}),
        (["model.act", "optim.x"], {"optim.x": "act"}),
    ],
    ids=["same last segment", "reserved last segment", "last segment given away"],
)
def test_full_name_where_the_short_one_is_taken(varied, explicit):
    """Field case A4: a default alias gives way to a result column."""
    chosen = aliases(varied, explicit, ["accuracy"])
    assert chosen == {key: explicit.get(key, key) for key in varied}


@pytest.mark.parametrize("alias", ["epoch", "loss", "params", "time_iter", "accuracy", "loss_std"])
def test_reserved_alias_is_an_error(alias):
    """Field case A4: an explicit alias may not hide a result column."""
    with pytest.raises(ConfigError, match=rf"model.act.alias={alias}: is a result column"):
        aliases(["model.act"], {"model.act": alias}, ["accuracy"])


def test_repeated_alias_is_an_error():
    with pytest.raises(ConfigError, match=r"b.y.alias=n: is the column of a.x too"):
        aliases(["a.x", "b.y"], {"a.x": "n", "b.y": "n"}, [])


def test_key_named_like_a_result_gets_a_prefix():
    """Field case A4: a swept `loss` keeps apart from the measured one in every table."""
    assert aliases(["loss"], {}, ["accuracy"]) == {"loss": "choice.loss"}
    assert columns(["loss", "params", "val_accuracy"], ["accuracy"]) == {
        "loss": "loss",
        "params": "choice.params",
        "val_accuracy": "choice.val_accuracy",
    }


@pytest.mark.parametrize("module", ["names", "write", "__main__"])
def test_opens_without_heavy_imports(module):
    code = (
        f"import gymspace.results.{module}, sys; "
        "print({'pandas', 'numpy', 'torch', 'optuna', 'hydra'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
