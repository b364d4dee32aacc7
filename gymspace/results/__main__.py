"""`python -m gymspace.results [COMMAND] FOLDER`: a finished or running sweep in the terminal."""

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from gymspace.errors import ConfigError
from gymspace.results import show
from gymspace.results.query import condition, resolve, select, sort
from gymspace.results.tables import Row, Table
from gymspace.results.view import View, load_view

_COMMANDS = """commands:
  top       best designs, means per dimension, reasons of failures (the default)
  failures  every trial that failed, diverged or timed out, with its reason"""
_PIPE_WIDTH = 100


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError("gymspace.results", f"{message}; see --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; 2 goes with one line of what is wrong."""
    try:
        asked = _parser().parse_intermixed_args(arguments)
        _run(asked)
        sys.stdout.flush()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog="python -m gymspace.results",
        description="Show a sweep.",
        epilog=_COMMANDS,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=("top", "failures"), default="top")
    parser.add_argument("folder", type=Path, help="the sweep's folder, results/NAME")
    parser.add_argument(
        "--sort", metavar="COLUMN", help="sort by a column or alias; the choosing metric best first"
    )
    parser.add_argument("--reverse", action="store_true", help="the other way round")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="keep rows where COLUMN=VALUE (or != < <= > >=); may be repeated",
    )
    parser.add_argument("--top", type=int, metavar="N", help="show N designs (10)")
    parser.add_argument("--csv", action="store_true", help="print the rows as CSV")
    return parser


def _run(asked: Namespace) -> None:
    if asked.top is not None and asked.top < 1:
        raise ConfigError("--top", "must be at least 1", value=asked.top)
    view = load_view(asked.folder)
    if not view.records:
        waiting = f" ({view.unfinished} unfinished)" if view.unfinished else ""
        raise ConfigError("results", f"has no finished trial yet{waiting}", value=asked.folder)
    failures = asked.command == "failures"
    table = view.trials if failures else view.leaderboard
    rows = _rows(asked, view, table, show.in_trouble(table.rows) if failures else table.rows)
    if asked.csv:
        sys.stdout.write(Table(table.columns, tuple(rows[: asked.top])).csv())
        return
    console = _console()
    if failures:
        show.print_failures(view, rows[: asked.top], console)
    else:
        show.print_summary(view, rows, console, asked.top or 10)


def _rows(asked: Namespace, view: View, table: Table, rows: Sequence[Row]) -> list[Row]:
    own = {*table.columns, "task"}
    known = {typed: name for typed, name in view.columns.items() if name in own}
    kept = select(rows, [condition(text, known) for text in asked.where])
    if asked.sort is None:
        return kept[::-1] if asked.reverse else kept
    column = resolve("--sort", asked.sort, known)
    return sort(kept, column, descending=view.best_is_high(column) != asked.reverse)


def _console() -> Console:
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_PIPE_WIDTH if piped else None)


if __name__ == "__main__":
    sys.exit(main())
