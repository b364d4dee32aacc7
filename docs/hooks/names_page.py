"""The tables of the registry: what each name makes, which arguments it takes, from the code."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from gymspace import registry, tables

# What the place where a component is built gives it, so that no config can.
_GIVEN = {
    "dataset": {"root", "cache"},
    "data.split": {"data", "seed", "fold"},
    "loader": {"task", "group"},
    "model.layer": {"dim_in", "dim_out", "bias", "agg", "edge_dim", "degrees"},
    "model.stage": {"dim_in", "dim_inner", "dim_out", "layers", "make_block", "parts", "jumping"}
    | {"residual", "dim"},
    "model.norm": {"num_features", "normalized_shape", "dim"},
    "model.head": {"dim_in", "dim_out", "layers", "make_block"},
    "model.node_encoder": {"dim_in", "dim_inner", "levels"},
    "model.edge_encoder": {"dim_in", "dim_inner", "levels"},
    "model.attention": {"dim", "edge_dim"},
    "encodings": {"nodes"},
    "optim.optimizer": {"params", "lr", "weight_decay"},
    "optim.scheduler": {"optimizer", "epochs", "direction"},
    "sweep.draw": {"space"},
}
_PLACE = ("device", "dtype")  # of torch's own modules; a trial moves its model as a whole
_HEAD = """# Names

What a slot of the config can be filled with. Besides these a `module:attr` of your own is taken
everywhere; see [Use your own code](../guide/own.md). Arguments are written as
`model.layer={name: gat, heads: 4}`; those without a default are needed.
"""


def names_page() -> str:
    """The page: a table for each slot."""
    return "\n".join([_HEAD, *(_section(key) for key in registry.TABLES)])


def _section(key: str) -> str:
    layers = key == "model.layer"
    head = "| name | | arguments |" + (" uses | updates |" if layers else "")
    rule = "| --- | --- | --- |" + (" --- | --- |" if layers else "")
    rows = []
    for name, row in registry.TABLES[key].items():
        make = registry.factory(key, name)
        cells = [f"`{name}`", _summary(make), ", ".join(_arguments(key, make, row)) or "none"]
        if layers:
            cells += [", ".join(sorted(getattr(make, part, ()))) for part in ("uses", "updates")]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([f"## {key}\n", head, rule, *rows, ""])


def _summary(make: Callable[..., Any]) -> str:
    """The first sentence of the docstring, without reST's marks."""
    paragraph = " ".join((inspect.getdoc(make) or "").partition("\n\n")[0].split())
    text = re.sub(r" \(functional name:.*?\)", "", paragraph)
    text = re.sub(r"`([^`<]+?)\s*<[^>]+>`_+", r"\1", text)
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    return re.split(r"(?<! al)\s?\. (?=[A-Z])", text)[0].strip().removesuffix(".")


def _arguments(key: str, make: Callable[..., Any], row: tables.Row) -> Iterator[str]:
    given = _GIVEN.get(key, set())
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in inspect.signature(make).parameters.items():
        if name in given or name in _PLACE or parameter.kind not in named:
            continue
        default = row.preset.get(name, parameter.default)
        needed = default is inspect.Parameter.empty
        yield f"`{name}`" if needed else f"`{name}={_text(default)}`"


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(list(value)) if isinstance(value, tuple) else str(value)
