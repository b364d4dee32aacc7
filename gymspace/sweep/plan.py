"""From a space to trials: every design with every repeat, parsed and checked before any runs."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gymspace import registry
from gymspace.spec import TrialSpec, components, design_id, parse, replace, task_id, trial_id
from gymspace.sweep.draws.draw import Draw
from gymspace.sweep.spaces.space import Assignment

Config = Mapping[str, Any]
# Gives the base config with some config groups chosen anew, as in {"dataset": "cora"}.
Compose = Callable[[Mapping[str, str]], Config]


@dataclass(frozen=True)
class Trial:
    """A trial of a sweep: its spec, the choices that led to it, the hashes of the user's code."""

    spec: TrialSpec
    choices: Assignment
    code: Mapping[str, str]

    @cached_property
    def id(self) -> str:
        """The trial's id."""
        return trial_id(self.spec)

    @cached_property
    def design(self) -> tuple[str, str]:
        """What its repeats have in common: ids of task and design."""
        return task_id(self.spec), design_id(self.spec)


@dataclass(frozen=True)
class Designer:
    """Makes the trials of an assignment: one per repeat, of the base config with its choices.

    ``groups`` has the options of each config group; a choice among them is composed anew, any
    other is set in the config.
    """

    repeats: Sequence[Mapping[str, int]]
    base: Config
    groups: Mapping[str, Sequence[str]]
    compose: Compose
    _hashes: dict[tuple[str, str], str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def spec(self) -> TrialSpec:
        """The base design."""
        return parse(self.base)

    def trials(self, assignment: Assignment) -> list[Trial]:
        """The trials of one design, in the order of the repeats.

        Raises:
            ConfigError: a choice that is not valid.
        """
        spec = parse(assemble(assignment, self.base, self.groups, self.compose))
        code = source_hashes(spec, self._hashes)
        return [Trial(spec.model_copy(update=repeat), assignment, code) for repeat in self.repeats]


def plan(draw: Draw, designer: Designer) -> list[Trial]:
    """All trials of ``draw``, design after design, each of them once.

    Raises:
        ConfigError: a choice that is not valid, before anything has run.
    """
    trials: dict[str, Trial] = {}
    while (assignment := draw.ask()) is not None:
        for trial in designer.trials(assignment):
            trials.setdefault(trial.id, trial)
    return list(trials.values())


def assemble(
    assignment: Assignment,
    base: Config,
    groups: Mapping[str, Sequence[str]],
    compose: Compose,
) -> dict[str, Any]:
    """The config of one design; components are named before their arguments are set."""
    chosen = {k: v for k, v in assignment.items() if v in groups.get(k, ())}
    config = dict(compose(chosen) if chosen else base)
    for key in sorted(assignment.keys() - chosen.keys(), key=lambda key: key.count(".")):
        config = replace(config, key, assignment[key])
    return config


def source_hashes(spec: TrialSpec, known: dict[tuple[str, str], str]) -> dict[str, str]:
    """A digest of the source behind every `module:attr` of ``spec``; ``known`` spares reading."""
    found = {}
    for at in named(spec):
        key, name = at
        if ":" not in name:
            continue
        if at not in known:
            known[at] = registry.source_hash(key, name)
        found[name] = known[at]
    return found


def named(spec: TrialSpec) -> Iterator[tuple[str, str]]:
    """Key and name of every component of ``spec``, and of the baseline that its budget matches."""
    yield from ((key, component.name) for key, component in components(spec))
    match = spec.budget.match if spec.budget else ()
    yield from ((k, v) for k, v in match if k in registry.TABLES and isinstance(v, str))


def idle_keys(
    architectures: Mapping[str, str], trials: Sequence[Trial]
) -> list[tuple[str, str, bool]]:
    """Swept model keys that change nothing, as (key, layer that ignores it, in all its designs).

    ``architectures`` says by trial id what the model is made of: designs that differ in one key
    alone and are built alike are one design run several times.
    """
    idle: dict[tuple[str, str], list[bool]] = defaultdict(list)
    built_trials = [trial for trial in trials if trial.id in architectures]
    for key in {key for trial in built_trials for key in trial.choices if key.startswith("model.")}:
        choices, built, layers = defaultdict(set), defaultdict(set), {}
        for trial in built_trials:
            if key in trial.choices:
                rest = repr(sorted((k, repr(v)) for k, v in trial.choices.items() if k != key))
                choices[rest].add(repr(trial.choices[key]))
                built[rest].add(_made_of(trial, architectures[trial.id]))
                layers[rest] = trial.spec.model.layer.label
        for rest, layer in layers.items():
            idle[key, layer].append(len(built[rest]) < len(choices[rest]))
    return sorted((key, layer, all(same)) for (key, layer), same in idle.items() if any(same))


def _made_of(trial: Trial, architecture: str) -> tuple[str, ...]:
    """The architecture, and the arguments of user code, which need not show in it."""
    return architecture, *(c.label for _, c in components(trial.spec) if ":" in c.name)
