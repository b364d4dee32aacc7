"""`python -m gymspace.loaders.convert SOURCE OUT`: a feature file of features stored otherwise."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from gymspace.errors import ConfigError
from gymspace.loaders.features import DTYPES
from gymspace.loaders.writing import write_features

_PROGRAM = "python -m gymspace.loaders.convert"
_ABOUT = """Writes the features of nodes, one row each, as a file that loaders map and do not read.

  python -m gymspace.loaders.convert features.npy x.npy --dtype float16
  python -m gymspace.loaders.convert nodes.parquet x.npy --columns age income
  python -m gymspace.loaders.convert data.pt x.npy --name x"""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError("gymspace.loaders.convert", f"{message}; see --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 2 where something is wrong."""
    try:
        asked = _parser().parse_args(arguments)
        rows, width = write_features(
            asked.source, asked.out, asked.dtype, asked.name, asked.group, tuple(asked.columns)
        )
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{asked.out}: {rows:,} rows of {width:,} {asked.dtype}")
    return 0


def _parser() -> ArgumentParser:
    parser = _Parser(prog=_PROGRAM, description=_ABOUT, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("source", help="an array (.npy), a table (.parquet), a PyG object (.pt)")
    parser.add_argument("out", help="the feature file, .npy")
    parser.add_argument("--dtype", default="float32", help=f"{' or '.join(DTYPES)} (float32)")
    parser.add_argument("--name", default="x", help="attribute of a PyG object (x)")
    parser.add_argument("--group", help="node type, where a PyG object has several")
    parser.add_argument("--columns", nargs="+", default=(), help="columns of a table (all)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
