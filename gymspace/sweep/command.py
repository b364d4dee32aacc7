"""What a command does once its config is plain: plan, hold the folder, run, write the tables."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.records import RESULT
from gymspace.results.names import aliases
from gymspace.results.write import write_tables
from gymspace.spec import LogSpec, TrialSpec, parse
from gymspace.sweep.display import Display
from gymspace.sweep.draws.draw import Draw
from gymspace.sweep.dry import Preview, dry_run
from gymspace.sweep.folder import MANIFEST, TRIALS, Manifest, SweepFolder, base_of
from gymspace.sweep.loop import Launch, Observer
from gymspace.sweep.plan import Compose, Config, Designer, Trial, plan
from gymspace.sweep.probe import probes
from gymspace.sweep.search import Optuna
from gymspace.sweep.settings import Settings, SweepSettings, repeats, slots
from gymspace.sweep.spaces.keys import require_sensible
from gymspace.sweep.spaces.space import Space
from gymspace.sweep.work import Ended, planned, searched

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
    space: Space
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
    designer = Designer(again, command.base, command.groups, command.compose)
    require_sensible(command.space)
    draw = registry.build("sweep.draw", settings.draw, command.space)
    _require_aliases({d.key: d.alias for d in command.space.dimensions}, base)
    if isinstance(draw, Optuna):
        trials, work = [], searched(draw, designer, settings)
    else:
        trials = plan_trials(draw, designer)
        work = planned(trials, draw, command.space.constraints, settings, command.holds)
    manifest = _manifest(command, base, again, len(trials), work.about)
    if settings.dry:
        if (_path(command.settings) / MANIFEST).exists():
            SweepFolder(_path(command.settings)).admit(manifest, settings.extend)
        dry_run(_preview(command, draw, designer, trials), launch, console)
        return OK
    with work.hold(_path(command.settings)) as folder:
        about = folder.admit(manifest, settings.extend)
        _require_aliases({d["key"]: d["alias"] for d in about["space"]}, base)
        run = partial(work.run, folder, about, launch)
        return _run(run, folder.path, base.log, console, show)


def _require_aliases(given: Mapping[str, str | None], base: TrialSpec) -> None:
    """Find out now, not after the last trial, that two columns would have one name."""
    explicit = {key: alias for key, alias in given.items() if alias}
    aliases(list(given), explicit, [metric.short for metric in base.metrics])


def plan_trials(draw: Draw, designer: Designer) -> list[Trial]:
    """Every trial of ``draw``."""
    trials = plan(draw, designer)
    if not trials:
        raise ConfigError("sweep.space", "holds no design")
    return trials


def _run(
    work: Callable[[Observer], Ended], folder: Path, wanted: LogSpec, console: Console, show: Show
) -> int:
    """Do ``work``; whatever ends it, the tables are written from what is there.

    A mistake that is found before any trial leaves the folder as it was.
    """
    ended, before = None, _results(folder)
    try:
        with Display(console) as display:
            ended = work(display)
    except KeyboardInterrupt:
        console.print("interrupted: what is finished is kept; the same command runs the rest")
    except BaseException:
        if _results(folder) != before:
            write_tables(folder)
        raise
    if _results(folder):
        write_tables(folder)
        _write_board(folder, wanted)
        show(folder, console)
    if ended is None:
        return INTERRUPTED
    if ended.left:
        console.print(ended.left, highlight=False, soft_wrap=True)
    return FAILED if ended.statuses.keys() & {"failed", "timeout"} else OK


def _results(folder: Path) -> dict[Path, int]:
    """The results that are there, and when they were written."""
    found = {}
    for path in (folder / TRIALS).glob(f"*/{RESULT}"):
        with suppress(FileNotFoundError):  # another process of a search may run it anew
            found[path] = path.stat().st_mtime_ns
    return found


def _write_board(folder: Path, wanted: LogSpec) -> None:
    """Write what TensorBoard shows of the whole sweep."""
    # Imports here: after a sweep that asks for neither, and before its first trial, nobody waits.
    if wanted.tensorboard:
        from gymspace.results.board import write_board

        write_board(folder)
    if wanted.rank_plots:
        from gymspace.analysis.rank_plots import write_rank_plots

        write_rank_plots(folder)


def _path(settings: Settings) -> Path:
    return Path(settings.results) / settings.sweep.name


def _preview(
    command: Command, draw: Draw | Optuna, designer: Designer, trials: Sequence[Trial]
) -> Preview:
    """What a dry run tells; of a search, whose designs are not known, a few that may come."""
    path, place = _path(command.settings), partial(slots, command.settings)
    if not isinstance(draw, Optuna):
        return Preview(trials, command.space, path, place)
    some = {t.id: t for a in probes(command.space) for t in designer.trials(a)}
    if not some:
        raise ConfigError("sweep.constraints", "no design of the space meets them")
    designs = min(draw.n_trials, command.space.size or draw.n_trials)
    return Preview(list(some.values()), command.space, path, place, designs)


def _manifest(
    command: Command,
    base: TrialSpec,
    again: Sequence[Mapping[str, int]],
    trials: int,
    search: Mapping[str, Any],
) -> Manifest:
    settings: SweepSettings = command.settings.sweep
    return Manifest(
        name=settings.name,
        command=command.text,
        draw=settings.draw.label,
        base=base_of(base),
        space=command.space.dimensions,
        seeds=[repeat["seed"] for repeat in again],
        folds=[repeat["fold"] for repeat in again],
        trials=trials,
        search=search,
    )
