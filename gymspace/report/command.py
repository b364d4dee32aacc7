"""`report`: one HTML page with everything, for the browser."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gymspace.report.page import write_report


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("folder", type=Path, help="the sweep's folder, results/NAME")
    parser.add_argument("--to", type=Path, metavar="FILE", help="by default report.html in it")
    parser.add_argument("--metric", help="judge by this metric, not by what chose the epochs")
    parser.add_argument("--rule", help="which epoch's scores, of an imported folder")


def run(asked: Namespace) -> None:
    """Write the report and say where it is."""
    path = write_report(asked.folder, asked.to, asked.metric, asked.rule)
    print(f"written: {path} ({path.stat().st_size / 2**20:.1f} MB); open it in a browser")
