"""The notebooks as pages; with outputs where `make notebooks` has run them as they are now."""

from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter
from nbformat import NotebookNode

_NOT_RUN = "*This copy was not run: `make docs` runs the notebooks first.*\n\n"


def notebook_pages(root: Path) -> dict[str, str | bytes]:
    """Pages and their pictures by path in the site."""
    made: dict[str, str | bytes] = {}
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        plain = nbformat.read(path, 4)
        run = _executed(root / "build" / "notebooks" / path.name, plain)
        resources = {"output_files_dir": f"{path.stem}_files"}
        text, found = MarkdownExporter().from_notebook_node(run or plain, resources)
        made[f"notebooks/{path.stem}.md"] = _with_note(text, run is not None)
        made |= {f"notebooks/{name}": data for name, data in found["outputs"].items()}
    return made


def _executed(path: Path, plain: NotebookNode) -> NotebookNode | None:
    """The copy with outputs, unless there is none or its cells are others."""
    if not path.is_file():
        return None
    run = nbformat.read(path, 4)
    same = [cell.source for cell in run.cells] == [cell.source for cell in plain.cells]
    return run if same else None


def _with_note(text: str, run: bool) -> str:
    head, _, rest = text.lstrip().partition("\n")
    return f"{head}\n\n{'' if run else _NOT_RUN}{rest}"
