"""Encodings of a source, and what a model may know of it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from gymspace.encodings.base import Tensors
from gymspace.encodings.cache import prepare
from gymspace.graph.graph import Graph
from gymspace.graph.task import Source, Task
from gymspace.models.known import Known
from gymspace.schema import Component
from gymspace.spec import TrialSpec


def encoded(source: Source, encodings: Sequence[Component], cache: Path) -> Source:
    """``source`` with the tensors of ``encodings``, computed or read from below ``cache``.

    Raises:
        ConfigError: arguments that do not fit, a graph that is too large, an unwritable cache.
    """
    if not encodings:
        return source
    nodes = source.data.x.size(0) if source.bounds is None else source.counts
    tensors = prepare(encodings, source.data.edge_index, nodes, cache)
    return replace(source, graph=with_tensors(source.graph, tensors))


def with_tensors(graph: Graph, tensors: Tensors) -> Graph:
    """``graph`` with encodings, on its device and real numbers in its precision."""
    (store,) = graph.nodes.values()
    device, dtype = graph.links.index.device, store.features.dtype
    placed = {
        name: tensor.to(device, dtype if tensor.is_floating_point() else tensor.dtype)
        for name, tensor in tensors.items()
    }
    return graph.with_encodings(placed)


def known_of(task: Task, spec: TrialSpec) -> Known:
    """What the model of ``spec`` may know of ``task``; degrees are those of training graphs."""
    source = task.source
    index, attr = source.graph.links.index, source.graph.links.attr
    degree = torch.bincount(index[1], minlength=source.data.x.size(0))
    if source.graph.batch is not None:
        degree = degree[source.graphs_with(task.split.train)[source.graph.batch]]
    return Known(
        edge_dim=None if attr is None else attr.size(1),
        degrees=torch.bincount(degree),
        encodings=spec.encodings,
        nodes=max(source.counts),
        node_levels=levels(source.data.x) if spec.model.node_encoder else None,
        edge_levels=levels(attr) if spec.model.edge_encoder and attr is not None else None,
        level=source.level,
    )


def levels(features: Tensor) -> tuple[int, ...] | None:
    """Of each column the largest value + 1; None unless all are whole numbers from 0 on."""
    if not features.numel():
        return (1,) * features.size(1)
    whole = torch.isfinite(features) & (features >= 0) & (features == features.round())
    if not whole.all():
        return None
    return tuple(int(most) + 1 for most in features.amax(dim=0))
