"""What a report brings along: its own style and script, plotly.js and DataTables, packed."""

from base64 import b64encode
from functools import cache
from gzip import compress
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path


def asset(name: str) -> str:
    """The text of a file in `templates/`."""
    return (files("gymspace.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def plotly() -> str:
    """plotly.js of the installed plotly, gzipped, in base64."""
    return _packed("plotly", "package_data/plotly.min.js")


@cache
def datatables() -> str:
    """The bundle of DataTables that itables brings, gzipped, in base64."""
    return _packed("itables", "html/dt_bundle.js")


def _packed(package: str, path: str) -> str:
    """A file of an installed package, which is not imported for it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the report needs {package}", name=package)
    content = (Path(spec.origin).parent / path).read_bytes()
    return b64encode(compress(content, 6, mtime=0)).decode("ascii")
