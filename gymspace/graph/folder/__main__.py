"""`python -m gymspace.graph.folder FOLDER`: what is in a folder, and all that is wrong with it."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from itertools import islice
from typing import NoReturn

from gymspace.errors import ConfigError
from gymspace.graph.folder.dataset import read_folder
from gymspace.graph.folder.described import command, describe

_PROGRAM = "python -m gymspace.graph.folder"
_ABOUT = """Prints what is in a folder of tables (edges, nodes and graphs, each a .csv or .parquet)
and every problem with its file and line. Ends with 2 if there are problems.

  python -m gymspace.graph.folder my_graph
  python -m gymspace.graph.folder my_graph --label income --task regression --skip title"""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError("gymspace.graph.folder", f"{message}; see --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 2 where something is wrong."""
    try:
        asked = _parser().parse_args(arguments)
        found = read_folder(asked.folder, asked.label, asked.task, asked.skip)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    print(asked.folder, *describe(found), sep="\n")
    if not found.problems:
        print("no problems; to train on it:", command(asked.folder, found), sep="\n")
        return 0
    print(f"{len(found.problems):,} problems:")
    shown = list(islice(found.problems, asked.most))
    print(*shown, sep="\n")
    if more := len(found.problems) - len(shown):
        print(f"... and {more:,} more (--most {len(found.problems)})")
    return 2


def _parser() -> ArgumentParser:
    parser = _Parser(prog=_PROGRAM, description=_ABOUT, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the folder, dataset.path of a run")
    parser.add_argument("--label", nargs="+", help="columns to be learnt, as dataset.label")
    parser.add_argument("--task", help="classification or regression, as dataset.task")
    parser.add_argument("--skip", nargs="+", default=(), help="columns not read, as dataset.skip")
    parser.add_argument("--most", type=int, default=50, help="problems that are printed (50)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
