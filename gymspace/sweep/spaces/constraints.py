"""Constraints: comparisons over the keys of a design, evaluated without Python's `eval`."""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType
from typing import Any

from simpleeval import EvalWithCompoundTypes

from gymspace.errors import ConfigError
from gymspace.schema import keys
from gymspace.spec import TrialSpec

KEY, PARAMS = "sweep.constraints", "params"
WORDS = MappingProxyType({"null": None, "true": True, "false": False})
FUNCTIONS = MappingProxyType({"min": min, "max": max, "abs": abs})


@dataclass(frozen=True)
class Constraint:
    """A condition on a design, such as ``model.dim_inner % model.layer.heads == 0``.

    A component compares as its name. A design without one of the keys (an argument that its layer
    does not have) is none of the constraint's business: it holds.
    """

    text: str
    keys: tuple[str, ...]
    tree: ast.expr = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, known: Collection[str] = ()) -> "Constraint":
        """Read a constraint; its keys are those of a trial, those ``known`` besides, and params.

        Raises:
            ConfigError: no expression, a key that is not known, something that is not allowed.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            problem = f"is no expression: {getattr(error, 'msg', error)}"
            raise ConfigError(KEY, problem, value=text) from error
        names = _Names()
        tree = names.visit(tree)
        constraint = cls(text, tuple(dict.fromkeys(names.found)), tree)
        constraint._require_known({*keys(TrialSpec), *known, PARAMS})
        constraint._require_simple()
        return constraint

    @property
    def needs_params(self) -> bool:
        """Whether it can be told only once a design has been built."""
        return PARAMS in self.keys

    def holds(self, config: Mapping[str, Any], params: int | None = None) -> bool:
        """Whether a design meets it, given its nested config and its number of parameters.

        Without ``params`` a constraint on them is not broken yet.

        Raises:
            ConfigError: it cannot be evaluated, or gives something else than true or false.
        """
        values: dict[str, Any] = {**WORDS}
        for key in self.keys:
            try:
                values[key] = params if key == PARAMS else _plain(_at(config, key))
            except KeyError:
                return True
        if self.needs_params and params is None:
            return True
        self._evaluator.names = values
        try:
            holds = self._evaluator.eval(self.text, self.tree)
        except Exception as error:  # whatever the operators raise on values of this kind
            given = ", ".join(f"{key}={values[key]}" for key in self.keys)
            problem = f"cannot be evaluated with {given}: {error}"
            raise ConfigError(KEY, problem, value=self.text) from error
        if not isinstance(holds, bool):
            raise ConfigError(KEY, f"is no comparison: it gives {holds!r}", value=self.text)
        return holds

    @cached_property
    def _evaluator(self) -> EvalWithCompoundTypes:
        return EvalWithCompoundTypes(functions=dict(FUNCTIONS))

    def _require_known(self, known: Collection[str]) -> None:
        for key in self.keys:
            if key not in known:
                last = {name.rpartition(".")[2]: name for name in sorted(known)}
                close = get_close_matches(key, known) or [
                    last[name] for name in get_close_matches(key.rpartition(".")[2], last)
                ]
                problem = f"{key} is no key of a design"
                raise ConfigError(KEY, problem, value=self.text, choices=close, near=key)

    def _require_simple(self) -> None:
        parts = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in FUNCTIONS:
                called = ast.unparse(node.func)
                raise ConfigError(
                    KEY, f"{called} is no function", value=self.text, choices=FUNCTIONS, near=called
                )
            allowed = type(node) in self._evaluator.nodes or isinstance(node, parts)
            if not allowed or isinstance(node, ast.Attribute | ast.keyword):
                problem = f"'{ast.unparse(node)}' is not allowed"
                raise ConfigError(KEY, problem, value=self.text)


class _Names(ast.NodeTransformer):
    """Makes a name of every dotted key, and remembers it."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name):
            return node
        return self.visit_Name(ast.Name(ast.unparse(node), ast.Load()))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in WORDS:
            self.found.append(node.id)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node


def _at(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping):
            raise KeyError(key)
        value = value[part]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping) and "name" in value:
        return value["name"]
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
