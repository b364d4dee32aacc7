"""The frozen description of one trial, read from a plain config, and its ids."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    Field,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.schema import Component, Frozen, Scalar, validate

SPEC_VERSION = 1


def _component(name: str) -> Any:
    return Field(default=Component.model_validate(name), validate_default=False)


class DataSpec(Frozen):
    """Where a dataset's files are and how its nodes are split and transformed."""

    root: str = "data"
    cache: str = "data/cache"
    split: Component = _component("per_class")
    transform: tuple[Component, ...] = Field((), strict=False)


class ModelSpec(Frozen):
    """Layers before, during and after message passing, and what each of them is made of."""

    layer: Component = _component("general")
    layers_pre_mp: int = Field(1, ge=0)
    layers_mp: int = Field(2, ge=0)
    layers_post_mp: int = Field(1, ge=0)
    stage: Component = _component("stack")
    dim_inner: int = Field(64, ge=1)
    norm: Component = _component("batch")
    act: Component = _component("prelu")
    dropout: float = Field(0.0, ge=0, lt=1)
    feature_dropout: float = Field(0.0, ge=0, lt=1)
    agg: Component | None = None
    l2norm: Literal["stage", "layer", "none"] = "stage"
    head: Component = _component("node")
    node_encoder: Component | None = None
    edge_encoder: Component | None = None
    attention: Component | None = None
    jumping: Literal["last", "concat", "max"] = "last"
    residual: bool = False
    norm_first: bool = False
    drop_edge: float = Field(0.0, ge=0, lt=1)


class OptimSpec(Frozen):
    """How the weights are stepped."""

    optimizer: Component = _component("adam")
    lr: float = Field(0.01, gt=0)
    weight_decay: float = Field(5e-4, ge=0)
    scheduler: Component = _component("cosine")
    grad_clip: float | None = Field(None, gt=0)
    accumulate: int = Field(1, ge=1)
    ema: float | None = Field(None, gt=0, lt=1)
    decay_norms: bool = True


class TrainSpec(Frozen):
    """How long, how often evaluated, when stopped, what is kept."""

    epochs: int = Field(200, ge=1)
    eval_every: int = Field(1, ge=1)
    early_stopping: int | None = Field(None, ge=1)
    checkpoint: bool = False
    batch_size: int = Field(32, ge=1)


class DistSpec(Frozen):
    """The processes of one trial."""

    ranks: int = Field(1, ge=1)


class LogSpec(Frozen):
    """What a trial writes besides its result."""

    tensorboard: bool = True
    embeddings: bool = False
    rank_plots: bool = False

    @field_validator("embeddings")
    @classmethod
    def _has_a_reader(cls, wanted: bool, info: ValidationInfo) -> bool:
        if wanted and not info.data.get("tensorboard", True):
            raise ValueError("is for TensorBoard: needs log.tensorboard=true")
        return wanted


class RunSpec(Frozen):
    """Limits of one trial; ``timeout`` in seconds, null for none."""

    timeout: float | None = Field(None, gt=0)


class BudgetSpec(Frozen):
    """How many parameters a model shall have: a number, or as many as another design.

    ``match`` has what that design changes of the default one, sorted: dotted keys below ``model``.
    """

    params: int | None = Field(None, ge=1)
    match: tuple[tuple[str, Scalar | tuple[Scalar, ...]], ...] = ()
    tolerance: float = Field(0.02, gt=0, lt=1)

    @model_validator(mode="before")
    @classmethod
    def _from_config(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = {"params": value}
        if not isinstance(value, Mapping):
            raise ValueError("is neither a number of parameters nor {match: ...} or {params: ...}")
        match = value.get("match") or {}
        if not isinstance(match, Mapping):
            raise ValueError("must match {key: value, ...} of a baseline, as in model.layer: gcn")
        if (value.get("params") is None) == (not match):
            raise ValueError("needs params or match, one of them")
        pairs = tuple(sorted(_dotted(match), key=str))
        if other := [key for key, _ in pairs if not str(key).startswith("model.")]:
            problem = f"must match keys of the model, which change its parameters, not {other[0]}"
            raise ValueError(problem)
        return {**value, "match": pairs}

    @field_validator("params", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """1e4 is a whole number too."""
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @field_serializer("match")
    def _to_config(self, match: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
        return dict(match)


def _dotted(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of a config by dotted key; a component's name is the leaf at its own key."""
    for name, value in config.items():
        key = prefix.removesuffix(".") if prefix and name == "name" else f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{key}.")
        else:
            yield key, tuple(value) if isinstance(value, list) else value


class TrialSpec(Frozen):
    """Task, design and repeat of one trial, and where it runs."""

    dataset: Component = _component("digits")
    data: DataSpec = DataSpec()
    metrics: tuple[Component, ...] = Field((Component.model_validate("accuracy"),), strict=False)
    metric: str = "accuracy"
    encodings: tuple[Component, ...] = Field((), strict=False)
    model: ModelSpec = ModelSpec()
    budget: BudgetSpec | None = None
    optim: OptimSpec = OptimSpec()
    train: TrainSpec = TrainSpec()
    loss: Component = _component("cross_entropy")
    loader: Component = _component("full")
    seed: int = Field(0, ge=0, lt=2**63)
    fold: int = Field(0, ge=0)
    device: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["float32", "float64"] = "float32"
    dist: DistSpec = DistSpec()
    trial: RunSpec = RunSpec()
    log: LogSpec = LogSpec()

    # Ids hash only what differs from the defaults, so a new key leaves them alone.
    NOT_IN_ID: ClassVar[tuple[str, ...]] = ("data.root", "data.cache", "trial", "log")
    TASK: ClassVar[tuple[str, ...]] = ("dataset", "data", "metrics", "metric")
    RUN: ClassVar[tuple[str, ...]] = ("seed", "fold", "device", "precision", "dist")

    @field_validator("metrics")
    @classmethod
    def _metrics_differ(cls, metrics: tuple[Component, ...]) -> tuple[Component, ...]:
        if not metrics or len({m.short for m in metrics}) < len(metrics):
            raise ValueError("must be a list of different metrics, one or more")
        return metrics

    @field_validator("encodings")
    @classmethod
    def _encodings_differ(cls, encodings: tuple[Component, ...]) -> tuple[Component, ...]:
        names = [encoding.short for encoding in encodings]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"has {twice[0]} twice")
        return encodings

    @field_validator("metric")
    @classmethod
    def _metric_is_measured(cls, metric: str, info: ValidationInfo) -> str:
        names = [m.short for m in info.data.get("metrics", ())]
        if names and metric not in names:
            raise ValueError(f"chooses the epoch, so metrics=[{', '.join(names)}] must have it")
        return metric


def parse(config: Mapping[str, Any]) -> TrialSpec:
    """Read a plain nested config into a `TrialSpec`; every name in it is known afterwards.

    Raises:
        ConfigError: an unknown key, a value of another type or range, an unknown name.
    """
    spec = validate(TrialSpec, config)
    for key, component in components(spec):
        registry.lookup(key, component.name)
    return spec


def components(spec: TrialSpec) -> Iterator[tuple[str, Component]]:
    """Every filled slot of ``spec`` with the config key of its table."""
    for key in registry.TABLES:
        if key.startswith("sweep."):
            continue
        value = get(spec, key)
        for component in value if isinstance(value, tuple) else [value]:
            if component is not None:
                yield key, component


def get(spec: BaseModel, key: str) -> Any:
    """The value at a dotted key; for an argument of a component too, as in ``model.layer.heads``.

    Raises:
        KeyError: this spec has no such key (a component without that argument, for one).
    """
    value: Any = spec
    for part in key.split("."):
        if isinstance(value, Component):
            inner = {"name": value.name, **dict(value.args)}
        else:
            inner = dict(value) if isinstance(value, BaseModel) else {}
        if part not in inner:
            raise KeyError(key)
        value = inner[part]
    return value


def replace(config: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy of a plain config with ``key`` set; a component given by name becomes a mapping."""
    head, _, rest = key.partition(".")
    copy = dict(config)
    if not rest:
        copy[head] = value
        return copy
    below = copy.get(head, {})
    below = {"name": below} if isinstance(below, str) else below
    if not isinstance(below, Mapping):
        raise ConfigError(key, f"'{head}' is {below!r} and has no keys", value=value)
    copy[head] = replace(below, rest, value)
    return copy


def task_id(spec: TrialSpec) -> str:
    """Id of what is to be learnt: dataset, split, transform, metrics."""
    return _digest(_parts(spec)[0])


def design_id(spec: TrialSpec) -> str:
    """Id of the model and its training, whatever the task and the repeat."""
    return _digest(_parts(spec)[1])


def trial_id(spec: TrialSpec) -> str:
    """Id of task, design and repeat together with ranks, precision and kind of device."""
    return _digest(_non_default(spec))


def identity(spec: TrialSpec) -> dict[str, Any]:
    """What a result says of the trial it belongs to: ids, repeat, ranks."""
    return {
        "trial": trial_id(spec),
        "design": design_id(spec),
        "task": task_id(spec),
        "seed": spec.seed,
        "fold": spec.fold,
        "ranks": spec.dist.ranks,
    }


def _parts(spec: TrialSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    fields = _non_default(spec)
    task = {k: v for k, v in fields.items() if k in spec.TASK}
    return task, {k: v for k, v in fields.items() if k not in (*spec.TASK, *spec.RUN)}


def _non_default(model: Frozen, prefix: str = "") -> dict[str, Any]:
    found = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if f"{prefix}{name}" in TrialSpec.NOT_IN_ID or value == field.default:
            continue
        if isinstance(value, Frozen) and not isinstance(value, Component):
            found[name] = _non_default(value, f"{prefix}{name}.")
        else:
            found[name] = model.model_dump(mode="json", include={name})[name]
    return {name: value for name, value in found.items() if value != {}}


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps([SPEC_VERSION, fields], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
