"""A design tried on a toy before it is trained: does it give scores, and if not, what fails?"""

from collections.abc import Sequence
from traceback import walk_tb

import torch
from torch import Tensor, nn

from gymspace import registry
from gymspace.encodings.cache import prepare
from gymspace.errors import ConfigError, place
from gymspace.graph.graph import Graph
from gymspace.graph.task import Source
from gymspace.schema import Component
from gymspace.spec import TrialSpec, get
from gymspace.training.encoded import with_tensors

# Slots that are called in a forward pass.
CALLED = (
    "layer",
    "attention",
    "norm",
    "act",
    "agg",
    "stage",
    "head",
    "node_encoder",
    "edge_encoder",
)


def try_out(spec: TrialSpec, model: nn.Module, source: Source) -> None:
    """Have ``model`` score toys like the graphs of ``source``.

    Raises:
        ConfigError: it fails, or its scores have another shape than they should.
    """
    toy = toy_graph(source, spec.encodings)
    rows = toy.x.size(0)
    if toy.batch is not None and source.level == "graph":
        rows = int(toy.batch[-1]) + 1
    passed: list[Graph] = []
    body = model.get_submodule("body")
    watch = body.register_forward_hook(lambda body, given, out: passed.append(out))
    try:
        with torch.no_grad():
            scores = model(toy)
    except ConfigError:
        raise
    except Exception as error:  # a layer of the user's: whatever it raises is told before the sweep
        problem = f"fails on a graph of {toy.x.size(0)} nodes: {error!r}, {place(error)}"
        raise _fault(spec, _raised_in(spec, error), problem) from error
    finally:
        watch.remove()
    if scores.shape != (rows, source.dim_out):
        kept = passed[0].x.size(0) == toy.x.size(0) and spec.model.layers_post_mp
        problem = f"gives scores of shape {list(scores.shape)}, not {[rows, source.dim_out]}"
        raise _fault(spec, "model.head" if kept else "model.layer", problem)


def _fault(spec: TrialSpec, key: str, problem: str) -> ConfigError:
    return ConfigError(key, problem, value=get(spec, key).label)


def _raised_in(spec: TrialSpec, error: Exception) -> str:
    """The key of the component at fault: the innermost that ``error`` came through.

    Where there is code of the user's it is looked for there alone: what it gives may fail later on.
    """
    filled: dict[str, Component | None] = {slot: getattr(spec.model, slot) for slot in CALLED}
    named = {f"model.{slot}": found.name for slot, found in filled.items() if found is not None}
    named = {key: name for key, name in named.items() if ":" in name} or named
    kinds = {key: registry.factory(key, name) for key, name in named.items()}
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        caller = frame.f_locals.get("self")
        for key, kind in kinds.items():
            if isinstance(kind, type) and isinstance(caller, kind):
                return key
    return next(iter(kinds))


def toy_graph(source: Source, encodings: Sequence[Component] = ()) -> Graph:
    """A ring of four nodes: features and edge data like the source's, and encodings of its own.

    Of many graphs, it is a batch of that ring and a node without edges.
    """
    (store,), links = source.graph.nodes.values(), source.graph.links
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]], device=links.index.device)
    counts = [4] if source.bounds is None else [4, 1]
    batch = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts)).to(ring.device)
    x = _first(source.data.x, sum(counts)).to(ring.device, store.features.dtype)
    attr = None if links.attr is None else _first(links.attr, 4)
    weight = None if links.weight is None else x.new_ones(4)
    one = source.bounds is None
    graph = Graph.of(x, ring, attr, weight, None if one else batch)
    return with_tensors(graph, prepare(encodings, ring, 4 if one else counts))


def _first(rows: Tensor, count: int) -> Tensor:
    """So many of the rows, over and over; rows of zeros if there are none."""
    if not len(rows):
        return rows.new_zeros(count, *rows.shape[1:])
    return rows[torch.arange(count) % len(rows)]
