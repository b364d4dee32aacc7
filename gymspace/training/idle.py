"""What in a design has no effect: told before a sweep spends trials on it."""

from collections.abc import Iterator, Mapping
from inspect import signature
from types import MappingProxyType

from torch import nn

from gymspace import registry
from gymspace.spec import TrialSpec, components, get

# Keys whose value is offered, under a name, to what fills a slot: one that does not name it never
# hears of it.
OFFERED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "model.agg": ("model.layer", "agg"),
        "model.attention": ("model.stage", "parts"),
        "model.jumping": ("model.stage", "jumping"),
        "model.residual": ("model.stage", "residual"),
        "train.batch_size": ("loader", "batch_size"),
    }
)


def ineffective(spec: TrialSpec, model: nn.Module) -> Iterator[str]:
    """What in the design of ``spec``, of which ``model`` was built, has no effect, a line each."""
    yield from _unread_edges(spec, model)
    yield from _unread_encodings(spec, model)
    default = TrialSpec()
    for key, (slot, name) in OFFERED.items():
        component = get(spec, slot)
        taken = signature(registry.factory(slot, component.name)).parameters
        if get(spec, key) != get(default, key) and name not in taken:
            yield f"{key} changes nothing: {slot}={component.label} does not ask for it"
    if spec.budget is not None and spec.model.dim_inner != default.model.dim_inner:
        yield "model.dim_inner changes nothing: the budget chooses it"
    if not spec.optim.decay_norms and not spec.optim.weight_decay:
        yield "optim.decay_norms changes nothing: optim.weight_decay=0"


def _unread_encodings(spec: TrialSpec, model: nn.Module) -> Iterator[str]:
    """Encodings without features of their own that no built-in part reads; others need not say."""
    inputs = getattr(model, "inputs", None)
    own = any(":" in part.name for key, part in components(spec) if key.startswith("model."))
    if inputs is None or own:
        return
    read = {name for part in model.modules() for name in getattr(part, "reads", ())}
    for component, encoding in zip(spec.encodings, inputs.encodings, strict=True):
        if encoding.dim == 0 and encoding.name not in read:
            text = f"encodings={component.label} changes nothing: it is for an attention that reads"
            attention = spec.model.attention
            yield f"{text} it, and model.attention={attention.label if attention else None}"


def _unread_edges(spec: TrialSpec, model: nn.Module) -> Iterator[str]:
    encoder, layer = spec.model.edge_encoder, spec.model.layer
    inputs = getattr(model, "inputs", None)
    if inputs is None or encoder is None or not inputs.idle:
        return
    text = f"model.edge_encoder={encoder.label} changes nothing: model.layer={layer.label}"
    asked = "edge_attr" in signature(registry.factory("model.layer", layer.name)).parameters
    yield f"{text} uses no edge features{', unless its edge_attr is true' if asked else ''}"
