"""A look at every design before the first trial: each is built once, none is trained."""

from collections.abc import Iterable, Sequence

from gymspace.dist.jobs import Done, Failed, Finished, Job, Outcome, Progress
from gymspace.errors import ConfigError
from gymspace.records import Facts, Inspect
from gymspace.sweep.loop import Launcher, Observer
from gymspace.sweep.plan import Trial, idle_keys


def check(trials: Sequence[Trial], launcher: Launcher, observer: Observer) -> dict[str, Facts]:
    """Build every design once, and on every fold one; what was found, by the trial looked at.

    Swept keys that change nothing are warned of.

    Raises:
        ConfigError: a design that cannot be built.
    """
    found: dict[str, Facts] = {}
    for event in launcher.run(inspect_job(trial) for trial in _firsts(trials)):
        if isinstance(event, Progress):
            observer.noted(event.value)
        elif isinstance(event, Finished):
            found[event.job.id] = facts_of(event.outcome)
    idle = idle_keys({id: facts.architecture for id, facts in found.items()}, trials)
    for text in dict.fromkeys(warning for facts in found.values() for warning in facts.warnings):
        if text.partition(" ")[0] not in {key for key, _, _ in idle}:  # else it is told below
            observer.warned(text)
    for key, layer, always in idle:
        where = "" if always else "in some designs "
        observer.warned(f"{key} is swept, but changes nothing {where}with model.layer={layer}")
    return found


def inspect_job(trial: Trial) -> Job:
    """The job of looking at the design of ``trial``."""
    return Job(trial.id, Inspect(trial.spec), trial.spec.trial.timeout)


def facts_of(outcome: Outcome) -> Facts:
    """What a look at a design found.

    Raises:
        ConfigError: the design cannot be built.
    """
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed) and outcome.key is not None:
        raise _told(outcome)
    problem = outcome.error if isinstance(outcome, Failed) else "it took more than trial.timeout"
    raise ConfigError("model", f"cannot be built: {problem}")


def _firsts(trials: Sequence[Trial]) -> Iterable[Trial]:
    """The first trial of every design, and one on every fold; in the order of the trials."""
    firsts: dict[tuple[str, str | int], Trial] = {}
    for trial in reversed(trials):
        firsts[trial.design] = firsts[trial.design[0], trial.spec.fold] = trial
    return {trial.id: trial for trial in reversed(firsts.values())}.values()


def _told(failure: Failed) -> ConfigError:
    """The `ConfigError` that a rank raised, told again here."""
    error = ConfigError(failure.key or "", "")
    error.args = (failure.error,)
    return error
