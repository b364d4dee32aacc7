"""From names to factories: by the tables, or by `module:attr` for what is in none."""

import hashlib
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Hashable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError, lacks_memory, place
from gymspace.tables import TABLES, Row


def lookup(key: str, name: str) -> Row:
    """The row of ``name`` in the table of the config ``key``, without importing what it points to.

    Raises:
        ConfigError: the name is neither in the table nor the `module:attr` of a module that exists.
    """
    table = TABLES[key]
    if name in table:
        return table[name]
    if ":" not in name:
        raise ConfigError(
            key, "unknown name (a `module:attr` is taken too)", value=name, choices=table
        )
    source_file(key, name)
    return Row(name)


def source_file(key: str, target: str) -> Path | None:
    """The file that holds `module:attr`; None for a module without one (built in).

    Raises:
        ConfigError: there is no such module.
    """
    module = target.partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except Exception as error:  # the packages around it are imported, and may be user code
        raise ConfigError(key, f"cannot import '{module}': {error}", value=target) from error
    if found is None:
        raise ConfigError(key, f"there is no module '{module}'", value=target)
    return Path(found.origin) if found.has_location and found.origin else None


def source_hash(key: str, target: str) -> str:
    """Digest of the file behind `module:attr`, kept with a trial to notice changed code."""
    path = source_file(key, target)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path else "built-in"


def factory(key: str, name: str) -> Callable[..., Any]:
    """Import what ``name`` stands for (the row's presets are not applied: see `build`)."""
    target = lookup(key, name).target
    module, _, attribute = target.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:  # user code: whatever it raises is told with the key
        raise ConfigError(key, f"importing '{module}' failed: {error!r}", value=name) from error
    if not callable(getattr(found, attribute, None)):
        names = [n for n in vars(found) if not n.startswith("_") and callable(getattr(found, n))]
        close = names if len(names) <= 12 else get_close_matches(attribute, names)
        raise ConfigError(
            key,
            f"'{module}' has no callable '{attribute}'",
            value=name,
            choices=close,
            near=attribute,
        )
    return getattr(found, attribute)


def build(key: str, component: Any, *positional: Any, **context: Any) -> Any:
    """Call the factory of ``component`` (it has ``name`` and ``args``) and return what it makes.

    ``context`` is offered, not forced: a factory gets those entries that its signature names.
    The component's own arguments must be in the signature and not in the context; they win over
    presets.

    Raises:
        ConfigError: an argument that the factory does not take, or one that it misses; whatever
            the factory raises, but for a lack of memory.
    """
    make = factory(key, component.name)
    signature = _signature(key, component.name, make)
    names, any_keyword = _parameters(signature, skip=len(positional))
    taken = [name for name in names if name not in context]
    for name, value in component.args:
        if name in context or (name not in taken and not any_keyword):
            raise ConfigError(
                f"{key}.{name}",
                f"'{component.name}' takes no such argument",
                value=value,
                choices=taken,
                near=name,
            )
        _check_type(f"{key}.{name}", value, signature.parameters.get(name))
    offered = {name: value for name, value in context.items() if name in names}
    arguments = {**offered, **lookup(key, component.name).preset, **dict(component.args)}
    _bind(key, component.name, signature, positional, arguments)
    try:
        return make(*positional, **arguments)
    except ConfigError:
        raise
    except Exception as error:
        if lacks_memory(error):
            raise
        problem = f"cannot be built: {error!r}, {place(error)}"
        raise ConfigError(key, problem, value=component.label) from error


def _signature(key: str, name: str, make: Callable[..., Any]) -> inspect.Signature:
    read = _signature_once if isinstance(make, Hashable) else inspect.signature
    try:
        return read(make)
    except ValueError as error:  # some functions written in C
        raise ConfigError(key, "does not tell its arguments", value=name) from error


@lru_cache(maxsize=1024)
def _signature_once(make: Callable[..., Any]) -> inspect.Signature:
    """Of the few factories of a sweep; a model asks for them dozens of times."""
    return inspect.signature(make)


def _bind(
    key: str, name: str, signature: inspect.Signature, positional: Any, arguments: Any
) -> None:
    try:
        signature.bind(*positional, **arguments)
    except TypeError as error:
        raise ConfigError(key, f"cannot be called: {error}", value=name) from error


def _check_type(key: str, value: Any, parameter: inspect.Parameter | None) -> None:
    """Hold an argument to a plain annotation; anything richer is the factory's own business."""
    wanted = parameter.annotation if parameter else None
    if wanted not in (bool, int, float, str):
        return
    fits = type(value) in ((int, float) if wanted is float else (wanted,))
    if not fits:
        raise ConfigError(key, f"must be of type {wanted.__name__}", value=value)


def _parameters(signature: inspect.Signature, skip: int) -> tuple[list[str], bool]:
    parameters = list(signature.parameters.values())
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in parameters[skip:] if p.kind in by_name]
    return names, any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def rows() -> Iterator[tuple[str, str, Row]]:
    """Every (config key, name, row) of every table."""
    for key, table in TABLES.items():
        for name, row in table.items():
            yield key, name, row
