"""A design's model at the width that its budget asks for, on the widths of its data."""

from collections.abc import Mapping
from typing import Any

from gymspace.errors import ConfigError
from gymspace.graph.task import Task
from gymspace.models.budget import Matched, count_design, match_width
from gymspace.models.known import Known
from gymspace.spec import ModelSpec, TrialSpec, parse, replace
from gymspace.training.encoded import known_of


def sized(spec: TrialSpec, task: Task, known: Known) -> tuple[ModelSpec, Matched | None]:
    """The model of ``spec``, as wide as its budget asks; how well that is met (None: no budget).

    Raises:
        ConfigError: a baseline that cannot be built, a budget that no width meets.
    """
    budget, widths = spec.budget, (task.source.dim_in, task.source.dim_out)
    if budget is None:
        return spec.model, None
    target = budget.params
    if target is None:
        target = _baseline(spec, task)
    matched = match_width(spec.model, *widths, known, target, budget.tolerance)
    return spec.model.model_copy(update={"dim_inner": matched.width}), matched


def _baseline(spec: TrialSpec, task: Task) -> int:
    """Number of parameters of the design that the budget of ``spec`` matches, on the same data.

    It starts from the default model, not from the trial's own: one target for a whole sweep. Its
    head is the plain one for what the data has labels of, which goes by that name.
    """
    default: dict[str, Any] = {
        "model": {**ModelSpec().model_dump(mode="json"), "head": task.source.level},
        "encodings": [],
        "budget": None,
    }
    config: Mapping[str, Any] = {**spec.model_dump(mode="json"), **default}
    assert spec.budget is not None
    for key, value in sorted(spec.budget.match, key=lambda item: item[0].count(".")):
        config = replace(config, key, list(value) if isinstance(value, tuple) else value)
    try:
        other = parse(config)
        known, source = known_of(task, other), task.source
        return count_design(other.model, source.dim_in, source.dim_out, known)
    except ConfigError as error:
        raise ConfigError("budget.match", f"the baseline has a fault: {error}") from error
