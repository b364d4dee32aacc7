"""The walls between rooms: who may import what, read off the source; for torch, also really run."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest first; a room imports from lower ranks only, so neighbours in a rank are strangers.
RANKS = (
    ("errors", "tables"),
    ("registry", "schema"),
    ("spec",),
    ("records",),
    ("graph", "results"),
    ("encodings",),
    ("models", "loaders", "analysis"),
    ("training", "terminal", "report"),
    ("dist", "live"),
    ("sweep",),
    ("__main__",),
)
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}
OWNERS = {
    "hydra": {"__main__", "hydra_plugins"},
    "omegaconf": {"__main__", "hydra_plugins"},
    "optuna": {"sweep", "analysis"},
    "pandas": {"results", "analysis", "terminal", "report"},
}
FREE_OF_TORCH = ("sweep", "results", "analysis", "terminal", "report", "live")
OUTSIDE = {"hydra_plugins", "experiments", "tests", "benchmarks", "notebooks"}


def imports(path: Path, module: str) -> Iterator[str]:
    """Every dotted name that a file imports, wherever in it; relative ones made absolute."""
    parts = module.split(".")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            depth = node.level - (path.name == "__init__.py")
            package = parts[: len(parts) - depth] if node.level else []
            base = ".".join([*package, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def read(root: Path) -> dict[str, set[str]]:
    """Module -> dotted names that it imports, for all code that is installed."""
    found = {}
    for path in [*root.glob("gymspace/**/*.py"), *root.glob("hydra_plugins/**/*.py")]:
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[module] = set(imports(path, module))
    return found


def room(name: str) -> str:
    """The room of a module: `gymspace.graph.splits` -> `graph`; the top package of any other."""
    top, _, rest = name.partition(".")
    return rest.split(".")[0] if top == "gymspace" else top


def reached(start: str, modules: dict[str, set[str]]) -> set[str]:
    """All that importing ``start`` imports in turn, packages of what is imported included."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            parts = name.split(".")
            todo += [".".join(parts[:n]) for n in range(1, len(parts))]
            todo += modules.get(name, ())
    return seen


def breaches(modules: dict[str, set[str]]) -> list[str]:
    """One line for every import that breaks a wall."""
    found = []
    for module, names in modules.items():
        found += [
            f"{module} imports {name}: {why}" for name in names if (why := fault(module, name))
        ]
        if room(module) in FREE_OF_TORCH:
            torch = sorted(name for name in reached(module, modules) if name.startswith("torch"))
            found += [f"{module} reaches {name}" for name in torch[:1]]
    return found


def fault(module: str, name: str) -> str | None:
    """What is wrong with ``module`` importing ``name``, looked at by itself; None if nothing is."""
    top, here, there = name.split(".")[0], room(module), room(name)
    if here not in OWNERS.get(top, {here}):
        return f"only {sorted(OWNERS[top])} may"
    if not module.startswith("gymspace."):
        return None
    if top in OUTSIDE:
        return "it lies outside the package"
    # The command line of a room may use the rooms above it.
    rank = RANK["__main__"] if module.endswith(".__main__") else RANK[here]
    if top == "gymspace" and here != there and rank <= RANK.get(there, -1):
        return "not downward"
    return None


def test_every_room_has_a_rank():
    rooms = {room(module) for module in read(ROOT) if module.startswith("gymspace.")}
    assert rooms <= set(RANK), "give the new room its place in RANKS"


def test_no_import_breaks_a_wall():
    assert breaches(read(ROOT)) == []


def test_importing_the_torch_free_rooms_leaves_torch_out():
    modules = [module for module in read(ROOT) if room(module) in FREE_OF_TORCH]
    modules = [module for module in modules if not module.endswith("__main__")]
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\n"
    code += "sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *modules], cwd=ROOT, check=False)
    assert modules
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("file", "source", "problem"),
    [
        ("gymspace/graph/a.py", "import pandas as pd", "only"),
        ("gymspace/training/a.py", "def f():\n    from hydra import compose", "only"),
        ("gymspace/graph/a.py", "from gymspace import models", "not downward"),
        ("gymspace/graph/a.py", "from ..models.blocks import Block", "not downward"),
        ("gymspace/graph/a.py", "import gymspace.results.read", "not downward"),
        ("gymspace/sweep/a.py", "from gymspace.graph import b", "reaches torch"),
        ("gymspace/models/a.py", "import experiments.layers", "outside"),
    ],
)
def test_a_breach_is_found(tmp_path, file, source, problem):
    for name, text in {"gymspace/graph/b.py": "from torch import nn", file: source}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [problem in line for line in breaches(read(tmp_path))] == [True]
