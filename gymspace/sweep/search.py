"""A sweep whose designs are asked of a study one by one, as what is known of the others grows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gymspace.errors import ConfigError
from gymspace.records import Facts
from gymspace.spec import TrialSpec
from gymspace.sweep.check import check
from gymspace.sweep.designs import Designs, Rules
from gymspace.sweep.folder import SweepFolder
from gymspace.sweep.limits import FOREVER, Limits
from gymspace.sweep.loop import Launch, Observer, drive
from gymspace.sweep.objectives import Objective, directed
from gymspace.sweep.plan import Designer, Trial
from gymspace.sweep.probe import probes
from gymspace.sweep.spaces.space import Space

if TYPE_CHECKING:
    from gymspace.sweep.study.study import Study


@dataclass(frozen=True)
class Optuna:
    """The draw of a search: at most ``n_trials`` designs of ``space``, in all its commands.

    ``seed`` is that of its sampler.
    """

    space: Space
    n_trials: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("n_trials", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                problem = f"must be a whole number of {least} or more"
                raise ConfigError(f"sweep.draw.{name}", problem, value=value)
        if not self.space.dimensions:
            raise ConfigError("sweep.space", "holds no dimension to search")
        for dimension in self.space.dimensions:
            if dimension.key.partition(".")[0] in TrialSpec.RUN:
                problem = "is how a trial is run, no part of a design: a search cannot vary it"
                raise ConfigError(f"sweep.space.{dimension.key}", problem)


@dataclass(frozen=True)
class Search:
    """A search: its draw, how designs become trials, what it is after, and its folder.

    ``about`` is what the folder says of it; ``goals`` are the objectives with their directions if
    an earlier command found these out; ``open`` opens the study that processes share, given the
    goals and the digests of the user's code. With ``any_code`` results of other code are taken.
    """

    draw: Optuna
    designer: Designer
    names: Sequence[str]
    goals: Sequence[Objective]
    open: Callable[[Sequence[Objective], Mapping[str, str]], "Study"]
    folder: SweepFolder
    about: Mapping[str, Any]
    any_code: bool = False
    limits: Limits = FOREVER


@dataclass(frozen=True)
class Found:
    """What a search came to: its trials by status, designs settled, why it ended before."""

    statuses: Mapping[str, int]
    settled: int
    why: str = ""


def run_search(search: Search, launch: Launch, observer: Observer) -> Found:
    """Run designs until enough of them are settled, none is left, or the time is over.

    Raises:
        ConfigError: a choice that cannot be built, before the first trial starts; constraints on
            sizes that no design meets, once all have been built.
    """
    trials = _probed(search)
    code = {name: digest for trial in trials for name, digest in trial.code.items()}
    if search.goals:
        with closing(search.open(search.goals, code)) as study:
            if (settled := len(study.settled())) >= search.draw.n_trials:
                observer.sought(search.draw.n_trials, settled)
                return Found(Counter(), settled)
    spec = trials[0].spec
    with launch(spec.dist.ranks, spec.device) as launcher:
        facts = check(trials, launcher, observer)
        _require_met(search, trials, facts)
        goals = directed(search.names, next(iter(facts.values())).directions)
        with closing(search.open(goals, code)) as study:
            found = [[goal.name, goal.direction] for goal in goals]
            search.folder.describe({**search.about, "objectives": found})
            observer.sought(search.draw.n_trials, len(study.settled()))
            limits = search.draw.space.constraints
            rules = Rules(search.draw.n_trials, goals, limits, search.any_code)
            designs = Designs(study, search.designer, rules, search.folder, observer)
            clock = search.limits.start()
            drive(clock.limited(designs), launcher, observer)
            ends = [one.status for one in study.settled().values()]
            if designs.exhausted and ends and set(ends) == {"invalid"}:
                raise _unmet()
            lacking = len(ends) < search.draw.n_trials
            why = _why(designs, study, clock.over) if lacking else ""
            return Found(designs.statuses, len(ends), why)


def _why(designs: Designs, study: "Study", late: bool) -> str:
    """Why fewer designs are settled than were asked for."""
    if late:
        return "sweep.hours is over"
    if study.running() > designs.paused:
        return "other processes run the rest"
    if designs.lost:
        return f"the ranks of {designs.lost} were lost twice: the next command tries again"
    return "the space holds no more" if designs.exhausted else ""


def _probed(search: Search) -> list[Trial]:
    """The first repeat of designs that meet every choice, and all repeats of the first design."""
    found: dict[str, Trial] = {}
    for assignment in probes(search.draw.space):
        repeats = search.designer.trials(assignment)
        config = repeats[0].spec.model_dump(mode="json")
        if all(constraint.holds(config) for constraint in search.draw.space.constraints):
            found |= {trial.id: trial for trial in (repeats if not found else repeats[:1])}
    if not found:
        raise _unmet()
    return list(found.values())


def _require_met(search: Search, trials: Sequence[Trial], facts: Mapping[str, Facts]) -> None:
    """Refuse constraints on sizes that none of the probes meets, if these are the whole space."""
    known = {trial.design: facts[trial.id].params for trial in trials if trial.id in facts}
    rules = Rules(search.draw.n_trials, (), search.draw.space.constraints)
    met = any(rules.allow(trial, known.get(trial.design)) for trial in trials)
    if not met and len(known) == search.draw.space.size:
        raise _unmet()


def _unmet() -> ConfigError:
    return ConfigError("sweep.constraints", "no design of the space meets them")
