"""Notices what a trial leaves behind in a rank that goes on to run others, and undoes it."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from gymspace.graph.adjacency import Sparse
from gymspace.graph.task import Source

# What trials of one process share: how to read it and how to put it back.
SHARED: Mapping[str, tuple[Callable[[], Any], Callable[[Any], object]]] = MappingProxyType(
    {
        "working directory": (os.getcwd, os.chdir),
        "gradient mode": (torch.is_grad_enabled, torch._C._set_grad_enabled),
        "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
        "number of threads": (torch.get_num_threads, torch.set_num_threads),
        "deterministic algorithms": (
            torch.are_deterministic_algorithms_enabled,
            torch.use_deterministic_algorithms,
        ),
    }
)


@contextmanager
def process_kept() -> Iterator[None]:
    """Put back what the trial within changed of the process.

    Raises:
        RuntimeError: it changed something, so its own result cannot be trusted either.
    """
    before = {name: read() for name, (read, _) in SHARED.items()}
    changed = []
    try:
        yield
    finally:
        for name, (read, write) in SHARED.items():
            if read() != before[name]:
                changed.append(name)
                write(before[name])
    if changed:
        raise RuntimeError(f"the trial changed the process's {' and '.join(changed)}")


@contextmanager
def source_kept(source: Source, forget: Callable[[], None]) -> Iterator[None]:
    """Have ``source`` forgotten if the trial within wrote into it.

    Raises:
        RuntimeError: it did, so neither its result nor the graph can be trusted.
    """
    before = _versions(source)
    try:
        yield
    finally:
        written = [name for name, at in _versions(source).items() if at != before.get(name, 0)]
        if written:
            forget()
    if written:
        names = " and ".join(written)
        raise RuntimeError(f"the trial wrote into the dataset's {names} in place: work on a copy")


def _versions(source: Source) -> dict[str, int]:
    """How often each tensor that trials share was written in place."""
    (store,), links = source.graph.nodes.values(), source.graph.links
    features = store.features
    tensors: dict[str, Tensor | None] = {
        "x": None if isinstance(features, Sparse) else features,
        "dense x": vars(store).get("x") if isinstance(features, Sparse) else None,
        "y": source.y,
        "batch": store.batch,
        "edge_index": links.index,
        "edge_attr": links.attr,
        "edge_weight": links.weight,
        **{f"encodings of {name}": tensor for name, tensor in store.encodings.items()},
    }
    return {name: tensor._version for name, tensor in tensors.items() if tensor is not None}
