"""`python -m gymspace.results [COMMAND] FOLDER`: what is asked of a finished or running sweep."""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from gymspace.errors import ConfigError

_PROGRAM = "python -m gymspace.results"


@dataclass(frozen=True)
class Command:
    """A module with ``options(parser)`` and ``run(asked)``, and what its help says."""

    module: str
    about: str
    example: str


COMMANDS: Mapping[str, Command] = {
    "top": Command(
        "gymspace.terminal.top",
        "the best designs, means per choice, reasons of failures",
        "results/node_grid --where stage=skipsum --sort params",
    ),
    "rank": Command(
        "gymspace.terminal.rank",
        "the choices of each dimension, ranked where all else is equal",
        "results/node_grid --dimension stage --tolerance 0.01",
    ),
    "compare": Command(
        "gymspace.terminal.compare",
        "two designs of a sweep, or two sweeps: is one better?",
        "results/node_grid 1 2",
    ),
    "importance": Command(
        "gymspace.terminal.importance",
        "how much each dimension matters, alone and in pairs",
        "results/node_grid --pairs",
    ),
    "similar": Command(
        "gymspace.terminal.similar",
        "which tasks rank designs alike, and what to try on a new one",
        "results/tasks --anchors 4 --new results/mine",
    ),
    "pareto": Command(
        "gymspace.terminal.pareto",
        "designs that no other beats in score and cost",
        "results/node_grid --against params --against seconds",
    ),
    "curves": Command(
        "gymspace.terminal.curves",
        "learning curves of designs, or how a search closed in, drawn",
        "results/node_grid 1 2 --column val_loss",
    ),
    "failures": Command(
        "gymspace.terminal.failures",
        "how trials ended badly: status and reason, counted",
        "results/node_grid --each",
    ),
    "show": Command(
        "gymspace.terminal.show",
        "one trial: how it ended, its scores, its choices, its files",
        "results/node_grid 3f9a",
    ),
    "report": Command(
        "gymspace.report.command",
        "one page with all of this for the browser, without network",
        "results/node_grid",
    ),
    "serve": Command(
        "gymspace.live.command",
        "sweeps in the browser while they run",
        "results/",
    ),
    "import": Command(
        "gymspace.results.graphgym_command",
        "read GraphGym's agg/*.csv into a folder that is read like a sweep's",
        "run/results/my_grid --to results/my_grid",
    ),
}
_DEFAULT = "top"


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError("gymspace.results", f"{message}; see --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; 2 goes with one line of what is wrong."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        module, asked = parsed(given)
        module.run(asked)
        sys.stdout.flush()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def parsed(given: Sequence[str]) -> tuple[Any, Namespace]:
    """The module of the command, and what is asked of it.

    Raises:
        ConfigError: no such command, or not its options.
    """
    name, rest = _named(given)
    module = import_module(COMMANDS[name].module)
    parser = _parser(name, whole=name not in given[:1])
    module.options(parser)
    return module, parser.parse_intermixed_args(rest)


def _named(given: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command and its arguments; a folder alone asks for the default."""
    first = given[0] if given else ""
    if first in COMMANDS:
        return first, given[1:]
    several = sum(not word.startswith("-") for word in given) > 1
    if first and not first.startswith("-") and several and not Path(first).exists():
        raise ConfigError("command", "unknown, nor is it a folder", value=first, choices=COMMANDS)
    return _DEFAULT, given


def _parser(name: str, whole: bool) -> ArgumentParser:
    command = COMMANDS[name]
    example = f"example:\n  {_PROGRAM} {name} {command.example}"
    if not whole:
        about, epilog = command.about, example
    else:
        about = "Read a sweep. Without a COMMAND it is top, whose options these are."
        lines = [f"  {word:<11}{one.about}" for word, one in COMMANDS.items()]
        epilog = "\n".join(["commands (each has --help):", *lines, "", example])
    return _Parser(
        prog=f"{_PROGRAM} {'[COMMAND]' if whole else name}",
        description=f"{about[0].upper()}{about[1:]}".rstrip(".") + ".",
        epilog=epilog,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


if __name__ == "__main__":
    sys.exit(main())
