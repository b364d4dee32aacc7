"""The report that is written when a sweep has ended, come what may."""

from pathlib import Path

from gymspace.report.page import is_current, write_report


def write_at_end(folder: Path) -> str:
    """Write the report of the sweep in ``folder`` unless it is there; returns what went wrong.

    Whatever that is: the trials are done, and their tables are written.
    """
    try:
        if not is_current(folder):
            write_report(folder)
    except Exception as error:
        kind = type(error).__name__
        return " ".join(f"the report was not written: {kind}: {error}".split())
    return ""
