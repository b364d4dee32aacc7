"""A sweep's folder -> one HTML page that needs nothing else, and its place in the folder."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from gymspace.errors import ConfigError
from gymspace.records import RESULT, write_atomic
from gymspace.report.assets import asset, datatables, plotly
from gymspace.report.compose import Page, compose
from gymspace.results.read import read_sweep
from gymspace.results.view import load_view

FILE = "report.html"


def write_report(
    folder: Path, to: Path | None = None, metric: str | None = None, rule: str | None = None
) -> Path:
    """Write the report of the sweep in ``folder``, by default there, and return where it is.

    ``metric`` and ``rule`` are as in `analysis.load.load_study`.

    Raises:
        ConfigError: not a sweep's folder, nothing finished in it, no such metric, not writable.
    """
    path = to or folder / FILE
    of = results_digest(folder)
    view = load_view(folder, rule)
    text = render(compose(view, read_sweep(folder), metric), of=of)
    try:
        write_atomic(path, lambda part: part.write_text(text, "utf-8", "backslashreplace"))
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise ConfigError("report", problem, value=path) from error
    return path


def is_current(folder: Path) -> bool:
    """Whether the report in ``folder`` is of the results that are there now."""
    try:
        with (folder / FILE).open("rb") as file:
            return results_digest(folder).encode() in file.read(500)
    except OSError:
        return False


def results_digest(folder: Path) -> str:
    """What tells the results in ``folder`` from others: of its trials' files, times and sizes."""
    digest = sha256(version("gymspace").encode())
    about = folder / "sweep.json"
    digest.update(about.read_bytes() if about.exists() else b"")
    for path in sorted(folder.glob(f"trials/*/{RESULT}")):
        status = path.stat()
        digest.update(f"{path.parent.name} {status.st_mtime_ns} {status.st_size} ".encode())
    return digest.hexdigest()


def render(page: Page, live: Mapping[str, Any] | None = None, of: str = "") -> str:
    """The page as HTML, marked as ``of`` these results.

    With ``live`` it asks the address ``state`` there whether ``version`` is still the newest.
    """
    template = _environment().get_template("page.html")
    return template.render(
        page=page,
        live=live,
        of=of,
        written=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        style=Markup(asset("report.css")),
        script=Markup(asset("report.js")),
        plotly=Markup(plotly()),
        datatables=Markup(datatables()),
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("gymspace.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["embedded"] = _embedded
    made.filters["figure"] = lambda figure: _closed(figure.to_json())
    return made


def _embedded(value: Any) -> Markup:
    return _closed(json.dumps(value, separators=(",", ":"), allow_nan=False))


def _closed(text: str) -> Markup:
    """JSON that cannot end the script element it lies in."""
    return Markup(text.replace("<", "\\u003c"))
