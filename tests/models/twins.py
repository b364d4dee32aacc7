"""A layer of ours and one of PyG's with the same weights: same output, same gradients."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gymspace import tables
from gymspace.graph.graph import Graph
from gymspace.models.blocks import make_layer
from gymspace.models.known import Known
from gymspace.schema import Component
from tests.graph.toys import features
from tests.models.designs import KNOWN, design


class Twin(NamedTuple):
    """A config of ours, PyG's layer for it, and what PyG calls each of our weights."""

    layer: dict[str, Any]
    agg: str | None
    make: Callable[[bool], nn.Module]
    names: Mapping[str, str] | None = None
    weighted: bool = False
    turned: Collection[str] = ()


def layer_of(
    name: str,
    bias: bool = True,
    agg: str | None = None,
    dims: tuple[int, int] = (4, 6),
    known: Known = KNOWN,
    **args: Any,
) -> nn.Module:
    """The layer ``name``, of which anything after a hyphen is left out."""
    component = Component.model_validate({"name": name.partition("-")[0], **args})
    torch.manual_seed(0)
    return make_layer(design(agg=agg), known, component, *dims, bias).double()


def layers_in(module: str) -> set[str]:
    """Names of the built-in layers that a module of `gymspace.models` holds."""
    home = f"gymspace.models.{module}:"
    return {name for name, row in tables.LAYERS.items() if row.target.startswith(home)}


def params(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def assert_twins(
    twin: Twin, name: str, graph: Graph, bias: bool = True, known: Known = KNOWN
) -> None:
    ours, theirs = layer_of(name, bias, twin.agg, known=known, **twin.layer), twin.make(bias)
    names = twin.names or {f"conv.{n}": n for n, _ in theirs.named_parameters()}
    same(ours, theirs.double(), graph, names, twin.turned)


def same(
    ours: nn.Module,
    theirs: nn.Module,
    graph: Graph,
    names: Mapping[str, str],
    turned: Collection[str] = (),
) -> None:
    """Give ``theirs`` the weights of ``ours`` by ``names`` and compare outputs and gradients."""
    weights = theirs.state_dict()
    for n, p in ours.named_parameters():
        weights[names[n]].copy_(p.detach().T if n in turned else p.detach())
    links = graph.links
    offered = {} if links.weight is None else {"edge_weight": links.weight}
    out, inputs, grads = results(lambda g: ours(g).x, ours, graph)
    expected = results(
        lambda g: theirs(
            g.x, links.index, **offered, **({} if links.attr is None else edges_of(theirs, g))
        ),
        theirs,
        graph,
    )
    torch.testing.assert_close((out, inputs), expected[:2])
    assert {names[n] for n in grads} == set(expected[2])
    for n, grad in grads.items():
        found = grad.T if n in turned else grad
        torch.testing.assert_close(found, expected[2][names[n]].reshape(found.shape))


def edges_of(theirs: nn.Module, graph: Graph) -> dict[str, Tensor | None]:
    """The edge features under the name that ``theirs`` has for them, if it has one."""
    takes = theirs.forward.__code__.co_varnames[: theirs.forward.__code__.co_argcount]
    return {name: graph.links.attr for name in ("edge_attr", "edge_feature") if name in takes}


def results(
    call: Callable[[Graph], Tensor], module: nn.Module, graph: Graph
) -> tuple[Tensor, list[Tensor], dict[str, Tensor]]:
    """Output, gradients of the inputs and gradients of the weights by name."""
    inputs = [graph.x.clone().requires_grad_()]
    graph = graph.with_x(inputs[0])
    if graph.links.attr is not None:
        inputs.append(graph.links.attr.clone().requires_grad_())
        graph = graph.with_links(attr=inputs[1])
    torch.manual_seed(0)
    out = call(graph)
    (out * features(6, seed=1)).sum().backward()
    grads = {n: _grad(p) for n, p in module.named_parameters() if p.requires_grad}
    return out, [_grad(part) for part in inputs], grads


def _grad(part: Tensor) -> Tensor:
    return torch.zeros_like(part) if part.grad is None else part.grad
