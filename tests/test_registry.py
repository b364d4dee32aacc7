"""The registry: every name leads somewhere, and what cannot be had is told in one line."""

import inspect
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.nn import SAGEConv

from experiments.layers import HalfMean
from gymspace import registry, tables
from gymspace.errors import ConfigError
from gymspace.graph.graph import Graph
from gymspace.models.model import build_model
from gymspace.records import Inspect
from gymspace.schema import Component
from gymspace.spec import ModelSpec, parse
from gymspace.training.worker import Worker

ROWS = list(registry.rows())
RING = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])


def build(key, config, *positional, **context):
    return registry.build(key, Component.model_validate(config), *positional, **context)


def fault(call, *arguments, **context):
    with pytest.raises(ConfigError) as caught:
        call(*arguments, **context)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module of the user's and gives the name to import it by."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text, name="users_own"):
        (tmp_path / f"{name}.py").write_text(dedent(text))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


@pytest.mark.parametrize(("key", "name", "row"), ROWS, ids=[f"{k}={n}" for k, n, _ in ROWS])
def test_every_row_imports_is_callable_and_takes_its_presets(key, name, row):
    make = registry.factory(key, name)
    assert callable(make)
    parameters = inspect.signature(make).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        assert set(row.preset) <= set(parameters)


def test_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        tables.LAYERS["mine"] = tables.Row("a:b")
    with pytest.raises(TypeError):
        registry.TABLES["mine"] = tables.LAYERS
    with pytest.raises(TypeError):
        tables.DATASETS["cora"].preset["cls"] = "Other"


# Names


def test_an_unknown_name_lists_the_choices_and_the_nearest():
    assert fault(registry.lookup, "model.act", "rellu") == (
        "model.act=rellu: unknown name (a `module:attr` is taken too); choices: "
        f"{', '.join(tables.ACTIVATIONS)}; did you mean relu?"
    )


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("nowhere:X", "there is no module 'nowhere'"),
        ("nowhere.at.all:X", "cannot import 'nowhere.at.all': No module named 'nowhere'"),
        ("experiments.nowhere:X", "there is no module 'experiments.nowhere'"),
        ("math.nowhere:X", "cannot import 'math.nowhere'"),
        (":X", ""),
        ("..up:X", "cannot import '..up'"),
    ],
)
def test_a_missing_module_is_found_out_without_importing(target, problem):
    assert fault(registry.lookup, "model.layer", target).startswith(
        f"model.layer={target}: {problem}"
    )


def test_lookup_does_not_run_the_users_module(module):
    name = module("raise RuntimeError('ran')")
    assert registry.lookup("model.layer", f"{name}:X").target == f"{name}:X"
    assert name not in sys.modules


def test_whatever_the_users_module_raises_is_told(module):
    name = module("x = 1 / 0")
    line = fault(registry.factory, "model.layer", f"{name}:X")
    assert line.startswith(f"model.layer={name}:X: importing '{name}' failed: ZeroDivisionError")


def test_whatever_the_package_around_a_module_raises_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text("x = 1 / 0")
    line = fault(registry.lookup, "model.layer", "broken.layers:X")
    assert line.startswith("model.layer=broken.layers:X: cannot import 'broken.layers': division")


@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("experiments.layers:HalfMaen", "HalfMean"),
        ("experiments.datasets:rng", "ring"),
        ("torch_geometric.nn:SAGConv", "SAGEConv"),
    ],
)
def test_a_missing_attribute_names_the_nearest(target, near):
    line = fault(registry.factory, "model.layer", target)
    module, _, attribute = target.partition(":")
    assert line.startswith(f"model.layer={target}: '{module}' has no callable '{attribute}'")
    assert line.endswith(f"did you mean {near}?")


def test_an_attribute_that_cannot_be_called_is_told():
    assert "has no callable 'pi'" in fault(registry.factory, "model.layer", "math:pi")


def test_the_hash_of_the_users_code_follows_the_code(module):
    name = module("def layer(): ...")
    before = registry.source_hash("model.layer", f"{name}:layer")
    assert before == registry.source_hash("model.layer", f"{name}:layer")
    module("def layer(): return 1")
    assert registry.source_hash("model.layer", f"{name}:layer") != before
    assert registry.source_hash("model.layer", "sys:exit") == "built-in"


# Arguments


@pytest.mark.parametrize(
    ("key", "config", "line"),
    [
        (
            "model.layer",
            {"name": "gat", "haeds": 2},
            "model.layer.haeds=2: 'gat' takes no such argument; choices: heads, dropout,"
            " edge_attr; did you mean heads?",
        ),
        (
            "model.layer",
            {"name": "gat", "heads": "4"},
            "model.layer.heads=4: must be of type int",
        ),
        (
            "model.layer",
            {"name": "gat", "heads": True},
            "model.layer.heads=True: must be of type int",
        ),
        (
            "model.layer",
            {"name": "gat", "heads": None},
            "model.layer.heads=None: must be of type int",
        ),
        (
            "model.layer",
            {"name": "gat", "dropout": "0.5"},
            "model.layer.dropout=0.5: must be of type float",
        ),
        (
            "model.layer",
            {"name": "gin", "train_eps": 1},
            "model.layer.train_eps=1: must be of type bool",
        ),
        (
            "model.layer",
            {"name": "gat", "bias": False},
            "model.layer.bias=False: 'gat' takes no such argument; choices: heads, dropout,"
            " edge_attr",
        ),
        (
            "model.layer",
            {"name": "gat", "dim_in": 3},
            "model.layer.dim_in=3: 'gat' takes no such argument; choices: heads, dropout,"
            " edge_attr",
        ),
        (
            "model.layer",
            "general",
            "model.layer=general: cannot be called: missing a required argument: 'agg'",
        ),
    ],
)
def test_an_argument_that_does_not_fit_is_one_line(key, config, line):
    assert fault(build, key, config, 8, 8, bias=True, edge_dim=None, scores=False) == line


def test_an_argument_may_not_take_the_place_of_what_the_trial_gives():
    line = fault(build, "data.split", {"name": "random", "seed": 5}, None, seed=0, fold=0, rows="")
    assert line == (
        "data.split.seed=5: 'random' takes no such argument; choices: train, val, split_seed"
    )


def test_a_whole_number_will_do_for_a_float():
    assert build("model.layer", {"name": "gat", "dropout": 0}, 8, 8, bias=True).conv.dropout == 0


def test_what_only_the_call_refuses_is_told_with_the_key():
    config = {"name": "torch_geometric.nn:SAGEConv", "bogus": 1}
    line = fault(build, "model.layer", config, 8, 8, bias=True)
    assert line.startswith(
        "model.layer=torch_geometric.nn:SAGEConv(bogus=1): cannot be built: TypeError("
    )
    assert "'bogus'" in line


def test_a_function_without_a_signature_is_told():
    line = fault(build, "model.layer", "builtins:max", 8, 8)
    assert line == "model.layer=builtins:max: does not tell its arguments"


def test_a_mistake_within_a_users_function_is_not_taken_for_one_of_arguments(module):
    name = module("def layer(a, b):\n    return a + 'text'")
    line = fault(build, "model.layer", f"{name}:layer", 8, 8)
    assert line.startswith(f"model.layer={name}:layer: cannot be built: TypeError(")
    assert line.endswith(f"{name}.py:2")


def test_context_is_offered_and_not_forced():
    """A factory gets what its signature names; its arguments win over presets, these over both."""
    registry_row = tables.OPTIMIZERS["sgd"]
    assert registry_row.preset == {"momentum": 0.9}
    weights = [torch.nn.Parameter(torch.zeros(1))]
    sgd = build("optim.optimizer", "sgd", weights, lr=0.5, weight_decay=0.0, nobody_asks=1)
    assert (sgd.defaults["momentum"], sgd.defaults["lr"]) == (0.9, 0.5)
    sgd = build("optim.optimizer", {"name": "sgd", "momentum": 0.1}, weights, lr=0.5)
    assert sgd.defaults["momentum"] == 0.1


def test_a_factory_of_any_keywords_gets_its_arguments_and_not_the_context(module):
    name = module("def make(x, **others):\n    return x, others")
    made = build("model.layer", {"name": f"{name}:make", "depth": 2}, 1, bias=True)
    assert made == (1, {"depth": 2})
    line = fault(build, "model.layer", {"name": f"{name}:make", "bias": False}, 1, bias=True)
    assert line.startswith(f"model.layer.bias=False: '{name}:make' takes no such argument")


@pytest.mark.parametrize("key", sorted(registry.TABLES))
def test_what_a_factory_raises_is_told_with_its_key_and_place(module, key):
    name = module("def make(*context, size=1):\n    raise IndexError(f'no {size}')")
    line = fault(build, key, {"name": f"{name}:make", "size": 3})
    assert line.startswith(f"{key}={name}:make(size=3): cannot be built: IndexError('no 3'), at ")
    assert line.endswith(f"{name}.py:2")


def test_a_lack_of_memory_is_nothing_that_the_user_asked_for_wrongly(module):
    name = module("def make():\n    raise MemoryError('full')")
    with pytest.raises(MemoryError):
        build("model.layer", f"{name}:make")


def test_a_component_is_anything_with_a_name_and_arguments():
    component = SimpleNamespace(name="gat", args=(("heads", 2),))
    assert registry.build("model.layer", component, 8, 8, bias=True).conv.heads == 2


# User code from experiments/


def test_the_example_of_a_users_layer_has_less_than_ten_lines():
    lines = [line for line in inspect.getsource(HalfMean).splitlines() if line.strip()]
    assert len(lines) < 10


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        ("experiments.layers:HalfMean", HalfMean),
        ("torch_geometric.nn:SAGEConv", SAGEConv),
        ({"name": "torch_geometric.nn:SAGEConv", "aggr": "max", "normalize": True}, SAGEConv),
    ],
)
def test_a_layer_of_anyones_fills_the_slot(layer, kind):
    spec = ModelSpec(layer=Component.model_validate(layer), dim_inner=6)
    model = build_model(spec, 5, 3)
    assert sum(isinstance(part, kind) for part in model.modules()) == 2
    assert model(Graph.of(torch.randn(4, 5), RING)).shape == (4, 3)


def test_a_users_layer_and_dataset_make_a_trial(tmp_path):
    spec = parse(
        {
            "dataset": {"name": "experiments.datasets:ring", "nodes": 60, "arcs": 4},
            "data": {"split": {"name": "random"}, "cache": str(tmp_path)},
            "model": {"layer": "experiments.layers:HalfMean", "dim_inner": 8},
        }
    )
    facts = Worker(0, 1)(Inspect(spec), lambda progress: None)
    assert "HalfMean" in facts.architecture
    assert facts.split.endswith("36/12/12")
    assert facts.params > 0


def test_a_users_dataset_is_held_to_its_signature():
    line = fault(build, "dataset", {"name": "experiments.datasets:ring", "nods": 60})
    assert line.startswith("dataset.nods=60: 'experiments.datasets:ring' takes no such argument")
    assert line.endswith("choices: nodes, arcs, noise; did you mean nodes?")
