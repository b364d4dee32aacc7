"""GraphGym's own layers, to compare with."""

import importlib
import warnings
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def graphgym(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """GraphGym's general layers, under the settings ``cfg.gnn`` that it is called with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that these layers do not need
        module = importlib.import_module("torch_geometric.graphgym.contrib.layer.generalconv")

    def under(**gnn: object) -> ModuleType:
        monkeypatch.setattr(module, "cfg", SimpleNamespace(gnn=SimpleNamespace(**gnn)))
        return module

    return under
