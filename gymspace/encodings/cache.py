"""Encodings of graphs, computed once and kept below data.cache by what they depend on."""

import hashlib
import json
import logging
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock
from torch import Tensor

from gymspace import registry
from gymspace.encodings.base import Encoding, Tensors
from gymspace.encodings.blocks import each
from gymspace.encodings.unions import apart, joined
from gymspace.errors import ConfigError
from gymspace.records import write_atomic
from gymspace.schema import Component

log = logging.getLogger(__name__)
KEY = "encodings"
FORMAT = 1
LONG = 1.0  # seconds that are worth a line


def make(component: Component, nodes: int) -> Encoding:
    """The encoding of ``component`` for graphs of up to ``nodes`` nodes.

    Raises:
        ConfigError: arguments that do not fit, user code that is no `Encoding`.
    """
    encoding = registry.build(KEY, component, nodes=nodes)
    if not isinstance(encoding, Encoding):
        raise ConfigError(KEY, f"is no {Encoding.__module__}.Encoding", value=component.name)
    return encoding


def prepare(
    components: Sequence[Component],
    edge_index: Tensor,
    nodes: int | Sequence[int],
    cache: Path | None = None,
) -> Tensors:
    """The tensors of all ``components``; with a ``cache`` none is computed twice.

    ``nodes`` are those of the graph, or of each graph where ``edge_index`` is that of a disjoint
    union, edges in the graphs' order: then each graph is looked at by itself.

    Raises:
        ConfigError: arguments that do not fit, a graph that is too large, a cache that cannot be
            written, two encodings with tensors of one name.
    """
    found: Tensors = {}
    for component in components:
        with torch.random.fork_rng(devices=[]):  # weights are drawn here that nobody uses
            encoding = make(component, nodes if isinstance(nodes, int) else max(nodes))
        raw = _raw(encoding, component, edge_index.cpu(), nodes, cache)
        tensors = encoding.finish(raw)
        if twice := found.keys() & tensors.keys():
            problem = f"makes {', '.join(sorted(twice))}, as another encoding does"
            raise ConfigError(KEY, problem, value=component.label)
        found |= tensors
    return found


def _raw(
    encoding: Encoding,
    component: Component,
    index: Tensor,
    nodes: int | Sequence[int],
    cache: Path | None,
) -> Tensors:
    if cache is None or not encoding.stored:
        return _computed(encoding, component, index, nodes)
    digest = _digest(encoding, component, index, nodes)
    path = cache / KEY / f"{encoding.name}-{digest}.pt"
    rows = nodes if isinstance(nodes, int) else sum(nodes)
    tensors = _read(path, rows)
    if tensors is None:
        with _lock(path):
            tensors = _read(path, rows)  # another sweep may have been faster
            if tensors is None:
                tensors = _computed(encoding, component, index, nodes)
                _write(path, tensors)
    return tensors


def _computed(
    encoding: Encoding, component: Component, index: Tensor, nodes: int | Sequence[int]
) -> Tensors:
    begun = time.perf_counter()
    if isinstance(nodes, int):
        tensors, of = _of_one(encoding, component, index, nodes), f"{nodes} nodes"
    else:
        graphs = each(encoding.name, apart(index, nodes))
        found = [_of_one(encoding, component, *graph) for graph in graphs]
        tensors, of = joined(found, encoding.fill), f"{len(nodes)} graphs"
    seconds = time.perf_counter() - begun
    level = logging.INFO if seconds > LONG else logging.DEBUG
    log.log(level, "computed %s=%s of %s in %.1f s", KEY, component.label, of, seconds)
    return tensors


def _of_one(encoding: Encoding, component: Component, index: Tensor, nodes: int) -> Tensors:
    tensors = encoding.compute(index, nodes)
    wrong = [name for name, tensor in tensors.items() if tensor.size(0) != nodes]
    if wrong:
        problem = f"gives {wrong[0]} of shape {list(tensors[wrong[0]].shape)} for {nodes} nodes"
        raise ConfigError(KEY, problem, value=component.label)
    return tensors


def _digest(
    encoding: Encoding, component: Component, index: Tensor, nodes: int | Sequence[int]
) -> str:
    own = ":" in component.name
    content = [
        FORMAT,
        f"{type(encoding).__module__}:{type(encoding).__qualname__}",
        encoding.version,
        sorted(encoding.settings().items()),
        # User code may forget its settings or its version.
        [component.label, registry.source_hash(KEY, component.name)] if own else [],
        nodes if isinstance(nodes, int) else list(nodes),
    ]
    edges = index.to(torch.int64).contiguous().numpy().tobytes()
    return hashlib.sha256(json.dumps(content).encode() + edges).hexdigest()[:16]


def _read(path: Path, rows: int) -> Tensors | None:
    """What `_write` wrote, unless it cannot be read or is something else."""
    if not path.exists():
        return None
    try:
        found = torch.load(path, weights_only=True, map_location="cpu")
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError):
        found = None
    if isinstance(found, dict) and all(_fits(tensor, rows) for tensor in found.values()):
        return found
    log.warning("%s cannot be read and is computed anew", path)
    return None


def _fits(tensor: object, rows: int) -> bool:
    return isinstance(tensor, Tensor) and tensor.shape[:1] == (rows,)


def _write(path: Path, tensors: Tensors) -> None:
    with _told(path):
        write_atomic(path, lambda part: torch.save(tensors, part))


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold ``path``.lock; the system frees it when its holder dies."""
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{path}.lock")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:  # torch.save raises the latter for a full disk
        raise ConfigError("data.cache", f"cannot write {path.parent}: {error}") from error
