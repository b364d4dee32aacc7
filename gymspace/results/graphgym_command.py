"""The command `import`: GraphGym's tables become a folder that is read like a sweep's."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gymspace.results.graphgym import import_graphgym


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("source", type=Path, help="a folder with agg/*.csv, or one such file")
    parser.add_argument("--to", type=Path, required=True, help="the new folder, results/NAME")
    parser.add_argument(
        "--metric", action="append", default=[], help="ranks designs; may be repeated, first wins"
    )
    parser.add_argument("--task", metavar="COLUMNS", help="columns that make the task, a,b,c")
    parser.add_argument("--seeds", type=int, metavar="N", help="repeats that the means are over")


def run(asked: Namespace) -> None:
    """Import, and say what was found and repaired."""
    task = [name for name in (asked.task or "").split(",") if name]
    found = import_graphgym(
        asked.source, asked.to, metrics=asked.metric, task=task, seeds=asked.seeds
    )
    print(*found, sep="\n")
    print(f"written: {asked.to}; to see it: python -m gymspace.results {asked.to}")
