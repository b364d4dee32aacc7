"""What a command runs, and how it holds the folder: planned trials alone, a search with others."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymspace.errors import ConfigError
from gymspace.sweep.draws.draw import Draw
from gymspace.sweep.folder import SweepFolder, base_of, space_json
from gymspace.sweep.hold import hold, share
from gymspace.sweep.limits import Limits
from gymspace.sweep.loop import Launch, Observer
from gymspace.sweep.objectives import Objective, named
from gymspace.sweep.plan import Designer, Trial
from gymspace.sweep.planned import Sweep, run_sweep
from gymspace.sweep.search import Optuna, Search, run_search
from gymspace.sweep.settings import SweepSettings
from gymspace.sweep.spaces.constraints import Constraint

if TYPE_CHECKING:
    from gymspace.sweep.study.study import Study


@dataclass(frozen=True)
class Ended:
    """What came of a command: its trials by status, and a line on what it left undone."""

    statuses: Mapping[str, int]
    left: str = ""


Run = Callable[[SweepFolder, Mapping[str, Any], Launch, Observer], Ended]


@dataclass(frozen=True)
class Work:
    """How to hold the folder at a path, what to do there, and what the folder shall say of it."""

    hold: Callable[[Path], AbstractContextManager[SweepFolder]]
    run: Run
    about: Mapping[str, Any] = field(default_factory=dict)


def planned(
    trials: Sequence[Trial],
    draw: Draw,
    constraints: Sequence[Constraint],
    settings: SweepSettings,
    part: str = "",
) -> Work:
    """The work of running ``trials``; the folder is held alone, or just its ``part``."""
    sized = [constraint for constraint in constraints if constraint.needs_params]
    limits = Limits(settings.hours, settings.at_end)

    def run(
        folder: SweepFolder, about: Mapping[str, Any], launch: Launch, observer: Observer
    ) -> Ended:
        sweep = Sweep(trials, draw, folder, about, settings.stale, settings.retry, sized, limits)
        results, left = run_sweep(sweep, launch, observer)
        text = f"sweep.hours is over: {left} trials are left" if left else ""
        return Ended(Counter(result["status"] for result in results), text)

    return Work(partial(hold, part=part), run)


def searched(draw: Optuna, designer: Designer, settings: SweepSettings) -> Work:
    """The work of a search; its folder is shared with other processes of the same search.

    Raises:
        ConfigError: objectives that there are not, or that do not go with the pruner; a sampler,
            pruner or storage that there is not.
    """
    # Here: Optuna takes a while to import, and a grid needs none of it.
    from gymspace.sweep.study.sound import require_sound
    from gymspace.sweep.study.storage import shown

    names = named(settings.objectives, designer.spec)
    _require_heard(names[0], designer.spec.metric, settings)
    require_sound(draw.space, len(names), settings.sampler, settings.pruner, settings.storage)
    fingerprint = _fingerprint(draw, designer, names)
    limits = Limits(settings.hours, settings.at_end)
    any_code = settings.stale == "keep"

    def run(
        folder: SweepFolder, about: Mapping[str, Any], launch: Launch, observer: Observer
    ) -> Ended:
        known = [Objective(*goal) for goal in about.get("objectives", ())]
        goals = known if [goal.name for goal in known] == list(names) else []
        opens = partial(_open_study, draw, settings, fingerprint, folder.path)
        search = Search(draw, designer, names, goals, opens, folder, about, any_code, limits)
        found = run_search(search, launch, observer)
        text = f"{found.settled} of {draw.n_trials} designs are settled: {found.why}"
        return Ended(found.statuses, text if found.why else "")

    about = {
        "sampler": settings.sampler.label,
        "pruner": settings.pruner.label,
        "storage": settings.storage and shown(settings.storage),
    }
    return Work(share, run, about)


def _require_heard(objective: str, metric: str, settings: SweepSettings) -> None:
    """Refuse a pruner that would judge by another value than the search is after."""
    if settings.pruner.name != "none" and objective != f"val_{metric}":
        problem = f"hears val_{metric} after each epoch, but sweep.objectives has {objective}"
        raise ConfigError("sweep.pruner", problem, value=settings.pruner.label)


def _fingerprint(draw: Optuna, designer: Designer, names: Sequence[str]) -> dict[str, Any]:
    """What makes a search another one: whoever shares its study must have the same."""
    varied = {dimension.key for dimension in draw.space.dimensions}
    return {
        "objectives": list(names),
        "space": space_json(draw.space),
        "constraints": [constraint.text for constraint in draw.space.constraints],
        "repeats": [dict(repeat) for repeat in designer.repeats],
        "base": {k: v for k, v in base_of(designer.spec).items() if k not in varied},
    }


def _open_study(
    draw: Optuna,
    settings: SweepSettings,
    fingerprint: Mapping[str, Any],
    folder: Path,
    goals: Sequence[Objective],
    code: Mapping[str, str],
) -> "Study":
    from gymspace.sweep.study.study import Study

    return Study.open(
        settings.storage or str(folder / "study.journal"),
        settings.name,
        draw.space,
        [goal.direction for goal in goals],
        settings.sampler,
        settings.pruner,
        fingerprint,
        seed=draw.seed,
        extend=settings.extend,
        retry=settings.retry == "failed",
        code=code,
        stale=settings.stale,
    )
