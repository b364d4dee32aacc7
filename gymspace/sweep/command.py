"""What a command does once its config is plain: plan, hold the folder, run, write the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.records import RESULT
from gymspace.results.names import aliases
from gymspace.results.write import write_tables
from gymspace.spec import TrialSpec, parse
from gymspace.sweep.display import Display
from gymspace.sweep.folder import MANIFEST, Manifest, SweepFolder, base_of, hold
from gymspace.sweep.loop import Launch, Sweep, run_sweep
from gymspace.sweep.plan import Compose, Config, Trial, plan
from gymspace.sweep.settings import Settings, SweepSettings, repeats
from gymspace.sweep.space import Dimension

OK, FAILED, INTERRUPTED = 0, 1, 130
# Prints what came of a sweep, from its folder.
Show = Callable[[Path, Console], None]


@dataclass(frozen=True)
class Command:
    """A sweep to run: the base config of its trials, its settings and its space.

    ``groups`` has the options of each config group and ``compose`` chooses among them. It
    ``holds`` the whole folder, or just the trial of that id.
    """

    text: str
    base: Config
    settings: Settings
    space: Sequence[Dimension]
    groups: Mapping[str, Sequence[str]]
    compose: Compose
    holds: str = ""


def execute(command: Command, launch: Launch, console: Console, show: Show) -> int:
    """Run ``command``, ``show`` what came of it and return the exit code.

    That is 1 if a trial failed or took too long, 130 after Ctrl-C.

    Raises:
        ConfigError: anything that is wrong with what was asked for, before the first trial.
    """
    settings = command.settings.sweep
    base = parse(command.base)
    again = repeats(settings, base)
    trials = plan_trials(command, again)
    _require_aliases({d.key: d.alias for d in command.space}, base)
    if settings.dry:
        if (_path(command.settings) / MANIFEST).exists():
            folder = SweepFolder(_path(command.settings))
            folder.admit(_manifest(command, base, again), settings.extend)
        return _dry(trials, command, console)
    with hold(_path(command.settings), command.holds) as folder:
        about = folder.admit(_manifest(command, base, again), settings.extend)
        _require_aliases({d["key"]: d["alias"] for d in about["space"]}, base)
        sweep = Sweep(trials, _draw(command), folder, about, settings.stale)
        return _run(sweep, launch, console, show)


def _require_aliases(given: Mapping[str, str | None], base: TrialSpec) -> None:
    """Find out now, not after the last trial, that two columns would have one name."""
    explicit = {key: alias for key, alias in given.items() if alias}
    aliases(list(given), explicit, [metric.short for metric in base.metrics])


def plan_trials(command: Command, again: Sequence[Mapping[str, int]]) -> list[Trial]:
    """Every trial of ``command``."""
    trials = plan(_draw(command), again, command.base, command.groups, command.compose)
    if not trials:
        raise ConfigError("sweep.space", "holds no design")
    return trials


def _draw(command: Command) -> Any:
    return registry.build("sweep.draw", command.settings.sweep.draw, command.space)


def _run(sweep: Sweep, launch: Launch, console: Console, show: Show) -> int:
    """Run ``sweep``; whatever ends it, the tables are written from what is there."""
    try:
        with Display(console, sweep.trials) as display:
            results = run_sweep(sweep, launch, display)
    except KeyboardInterrupt:
        console.print("interrupted: what is finished is kept; the same command runs the rest")
        results = None
    folder = sweep.folder.path
    if any((folder / "trials").glob(f"*/{RESULT}")):
        write_tables(folder)
        show(folder, console)
    if results is None:
        return INTERRUPTED
    return FAILED if any(r["status"] in ("failed", "timeout") for r in results) else OK


def _path(settings: Settings) -> Path:
    return Path(settings.results) / settings.sweep.name


def _dry(trials: Sequence[Trial], command: Command, console: Console) -> int:
    designs = list({trial.design: trial for trial in reversed(trials)}.values())[::-1]
    lines = [f"{_count(designs, 'design')}, {_count(trials, 'trial')}; the first designs:"]
    for trial in designs[:5]:
        choices = ", ".join(f"{key}={value}" for key, value in trial.choices.items())
        lines.append(f"  {choices or 'the base design'}")
    lines.append(f"they would go to {_path(command.settings)}")
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    return OK


def _count(things: Sequence[Any], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def _manifest(command: Command, base: TrialSpec, again: Sequence[Mapping[str, int]]) -> Manifest:
    settings: SweepSettings = command.settings.sweep
    return Manifest(
        name=settings.name,
        command=command.text,
        draw=settings.draw.label,
        base=base_of(base),
        space=command.space,
        seeds=[repeat["seed"] for repeat in again],
        folds=[repeat["fold"] for repeat in again],
    )
