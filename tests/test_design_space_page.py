"""The page of the design space says what the tables of names hold."""

import inspect
from pathlib import Path

import pytest
import yaml

from gymspace import registry

PAGE = Path(__file__).parents[1] / "docs" / "design_space.md"
DESCRIBED = ("model.layer", "model.stage", "model.attention", "encodings", "model.head")
DESCRIBED += ("model.node_encoder", "model.edge_encoder", "model.agg")
LISTED = ("model.norm", "model.act", "optim.optimizer", "optim.scheduler")


def line(key, name):
    """A row of the page: a name, its arguments with their defaults, the first line of its text."""
    make = registry.factory(key, name)
    preset = registry.lookup(key, name).preset
    given = inspect.signature(make).parameters.values()
    taken = [f"{p.name}={_config(preset.get(p.name, p.default))}" for p in given if _is_ours(p)]
    text = (inspect.getdoc(make) or "").partition("\n")[0].replace("``", "`")
    return f"| `{name}` | {text} | {', '.join(f'`{each}`' for each in taken)} |"


def _is_ours(parameter):
    """Whether an argument is for the config: a scalar default, and not offered by the builder."""
    offered = ("bias", "scores", "edge_dim", "residual", "jumping", "nodes", "last")
    scalar = isinstance(parameter.default, bool | int | float | str | tuple | None)
    return parameter.default is not parameter.empty and scalar and parameter.name not in offered


def _config(value):
    value = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()


@pytest.mark.parametrize("key", DESCRIBED)
def test_every_name_has_its_row(key):
    found = PAGE.read_text().splitlines()
    assert [row for name in registry.TABLES[key] if (row := line(key, name)) not in found] == []


@pytest.mark.parametrize("key", LISTED)
def test_every_name_is_listed(key):
    (row,) = [row for row in PAGE.read_text().splitlines() if row.startswith(f"- `{key}`: ")]
    assert row.partition(": ")[2].split(", ") == [f"`{name}`" for name in registry.TABLES[key]]
