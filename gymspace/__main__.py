"""The command line: Hydra composes, and nothing of Hydra goes beyond this file.

Hydra is imported inside functions, because every warm rank imports this module as well.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gymspace import registry
from gymspace.dist.slots import Slots, StartError, terminate_as_interrupt
from gymspace.errors import ConfigError
from gymspace.results.show import show_trial
from gymspace.schema import Component, unknown_key
from gymspace.spec import TrialSpec, parse, trial_id
from gymspace.sweep.arguments import flags_first
from gymspace.sweep.command import Command, execute
from gymspace.sweep.loop import Launch
from gymspace.sweep.settings import Settings, slots, split_config
from gymspace.sweep.spaces.space import Range, Space, constrain, override, parse_space

WORKER = "gymspace.training.worker:Worker"
TICK = 5.0  # seconds of silence after which the loop is told so: leases are to be renewed


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0, 1 if a trial failed, 2 for a mistake, 130 if interrupted."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does: user code lies there
    try:
        _require_no_launcher(os.environ)
        words = flags_first(sys.argv[1:] if arguments is None else arguments)
        if "--version" in words:
            return print(f"gymspace {version('gymspace')}")
        with terminate_as_interrupt():
            _hydra(words)
    except ConfigError as error:
        _fail(str(error))
    except StartError as error:
        _fail(error.failed.error)
    except (HydraException, OmegaConfBaseException) as error:
        _fail(str(as_config_error(error)))
    except YAMLError as error:
        _fail(f"a config file is no YAML: {' '.join(str(error).split())}")
    except OSError as error:
        _fail(f"{error.filename or 'a file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(text: str) -> None:
    print(f"gymspace: {text}", file=sys.stderr)
    sys.exit(2)


def _require_no_launcher(environment: Mapping[str, str]) -> None:
    """Ranks are started by us; under torchrun every rank would run the whole sweep."""
    size = environment.get("WORLD_SIZE", "1")
    if "RANK" in environment and size != "1":
        problem = "gymspace starts the ranks of a trial itself: run it without torchrun"
        raise ConfigError("dist.ranks", problem, value=size)


def _hydra(arguments: list[str]) -> None:
    import hydra

    # Without it Hydra prints several lines and exits with 1 instead of raising.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    sys.argv = [sys.argv[0], *arguments]
    here = str(config_dir())
    composed: list[Any] = []
    hydra.main(version_base="1.3", config_path=here, config_name="config")(composed.append)()
    if len(composed) > 1:
        raise ConfigError("hydra/sweeper", "another sweeper than gymspace's own cannot run a sweep")
    # Not within Hydra's own call: it would announce any error with a line of its own.
    for config in composed:
        single(config)


def config_dir() -> Path:
    """The folder of the config files: in the package if it was built, else beside it."""
    package = Path(__file__).resolve().parent
    built = package / "conf"
    return built if built.is_dir() else package.parent / "conf"


def single(config: Any) -> None:
    """Run the base design once, in ``results/single``, whatever the experiment would sweep."""
    from rich.console import Console

    plain, settings = split_config(_plain(config))
    console = Console()
    waiting = parse_space(_lists(settings.sweep.space))
    if waiting.dimensions:
        size = "any number of" if waiting.size is None else waiting.size
        console.print(f"the base design, once; {size} designs of its space wait behind -m")
    elif any(word.startswith("sweep.") for word in sys.argv[1:]):
        console.print("the design, once; sweep.* takes effect behind -m")
    once = {"name": "single", "seeds": 1, "folds": 1, "extend": True}
    once |= {"draw": Component(name="grid"), "constraints": ()}
    sweep = settings.sweep.model_copy(update=once)
    settings = settings.model_copy(update={"sweep": sweep})
    trial = trial_id(parse(plain))
    # Single runs share a folder, so each holds its own trial only.
    command = Command(_text(), plain, settings, Space(), {}, lambda chosen: plain, holds=trial)
    show = partial(show_trial, trial=trial)
    sys.exit(execute(command, launcher(settings), console, show))


def multirun(config: Any, arguments: Sequence[str], loader: Any) -> None:
    """Run the sweep of the composed ``config``, narrowed or widened by the overrides."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from rich.console import Console

    plain, settings = split_config(_plain(config))
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(arguments))
    space = parse_space(_lists(settings.sweep.space))
    named = {d.key for d in space.dimensions}
    asked = [o for o in parsed if o.is_sweep_override() or o.key_or_group in named]
    space = override(space, {_dimension_key(o.key_or_group): _choices(o) for o in asked})
    space = constrain(space, settings.sweep.constraints, plain)
    pinned = any(not o.is_sweep_override() for o in asked)
    # A dimension that is pinned stays one: the sweep's base is the same as without the pin.
    fixed = [o for o in parsed if o not in asked]

    @cache
    def composed(chosen: tuple[str, ...]) -> dict[str, Any]:
        groups = {choice.partition("=")[0] for choice in chosen}
        rest = [o.input_line for o in fixed if o.key_or_group not in groups]
        return split_config(_plain(loader.load_sweep_config(config, [*rest, *chosen])))[0]

    command = Command(
        text=_text(),
        base=composed(()) if pinned else plain,
        settings=settings,
        space=space,
        groups={d.key: loader.get_group_options(d.key.replace(".", "/")) for d in space.dimensions},
        compose=lambda chosen: composed(tuple(f"{k}={v}" for k, v in sorted(chosen.items()))),
    )
    sys.exit(execute(command, launcher(settings), Console(), _summary))


def _summary(folder: Path, console: Any) -> None:
    # Here: pandas and scipy, which running needs not.
    from gymspace.report.ending import write_at_end
    from gymspace.terminal.top import summary

    if problem := write_at_end(folder):
        console.print(problem, markup=False, soft_wrap=True)
    summary(folder, console)


def launcher(settings: Settings) -> Launch:
    """Warm slots on this machine, as many as ``workers`` says or the cores allow."""

    def launch(ranks: int, device: str) -> Slots:
        return Slots(WORKER, slots(settings, ranks), ranks, device=device, tick=TICK)

    return launch


def as_config_error(error: Exception) -> ConfigError:
    """A fault that Hydra or OmegaConf found while composing, as one line of ours."""
    from hydra.errors import MissingConfigException

    text = str(error)
    if isinstance(error, MissingConfigException) and error.options is not None:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        return ConfigError(group, "no such config", value=name, choices=error.options)
    if found := re.match(r"Could not override '([^']+)'", text):
        return _cannot_override(found[1])
    return ConfigError("command line", text)


def _cannot_override(key: str) -> ConfigError:
    if key == "experiment":
        return ConfigError(key, "is added with a plus sign: +experiment=<name>")
    if key.startswith("budget."):
        return ConfigError(key, "goes with a budget: 'budget={params: ..., tolerance: ...}'")
    for slot in registry.TABLES:
        if key.startswith(f"{slot}."):
            argument = key.removeprefix(f"{slot}.")
            problem = (
                f"is an argument: name its component too, '{slot}={{name: ..., {argument}: ...}}'"
            )
            if not slot.startswith("sweep."):
                problem += f" (with -m, {key}=a,b sweeps it)"
            return ConfigError(key, problem)
    return unknown_key(key, TrialSpec, Settings)


def _plain(config: Any) -> dict[str, Any]:
    from omegaconf import OmegaConf

    plain = OmegaConf.to_container(config, resolve=True)
    assert isinstance(plain, dict)
    if isinstance(plain.get("experiment"), Mapping):
        problem = "its file lacks the first line, '# @package _global_'"
        raise ConfigError("experiment", problem)
    return {str(key): value for key, value in plain.items() if key != "hydra"}


def _lists(space: Any) -> Any:
    """The space of an experiment, with what is written in Hydra's words in YAML's instead."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    def read(key: str, value: Any) -> Any:
        if isinstance(value, Mapping) and isinstance(value.get("choices"), str):
            return {**value, "choices": read(key, value["choices"])}
        if not isinstance(value, str):
            return value
        return _choices(OverridesParser.create().parse_override(f"{key}={value}"))

    if isinstance(space, Mapping):
        return {key: read(key, value) for key, value in space.items()}
    return [_lists(part) for part in space] if isinstance(space, list) else space


def _choices(override: Any) -> list[Any] | Range:
    if not override.is_sweep_override():
        return [override.value()]
    if override.is_discrete_sweep():
        return [override._convert_value(choice) for choice in override.sweep_iterator()]
    interval = override.value()
    if unknown := sorted(interval.tags - {"log"}):
        raise ConfigError(override.key_or_group, "unknown tag", value=unknown[0], choices=("log",))
    return Range.of(interval.start, interval.end, log="log" in interval.tags)


def _dimension_key(key: str) -> str:
    if key == "experiment":
        raise ConfigError(key, "one at a time")
    if key.partition(".")[0] in Settings.model_fields:
        raise ConfigError(key, f"is a setting, not a dimension: write a list as {key}=[1,2]")
    return key


def _text() -> str:
    return shlex.join(["python", "-m", "gymspace", *sys.argv[1:]])


if __name__ == "__main__":
    main()
