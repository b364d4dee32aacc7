"""The notebooks: without outputs in git, run top to bottom, reading through public modules only."""

import ast
import re
import shutil
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.conftest import HAVE_REAL_DATA, REAL_DATA

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
READING = re.compile(r"gymspace\.(results|analysis)(\.|$)")


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run a notebook in a folder of its own; returns all that it printed, and its pictures."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    folder = tmp_path / "notebooks"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("results", "my_layers.py"))

    def run(path: Path, data: Path) -> tuple[str, int]:
        monkeypatch.setenv("GYMSPACE_DATA", str(data))
        notebook = nbformat.read(path, 4)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
        outputs = [out for cell in code(notebook) for out in cell.outputs]
        pictures = sum("image/png" in out.get("data", {}) for out in outputs)
        return "".join(out.text for out in outputs if out.output_type == "stream"), pictures

    yield run
    shutil.rmtree(tmp_path)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_four():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_kept_in_git(path):
    cells = code(nbformat.read(path, 4))
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_results_are_read_through_results_and_analysis_only(path):
    for cell in code(nbformat.read(path, 4)):
        if cell.source.startswith("%%"):
            continue
        tree = ast.parse(re.sub(r"(?m)^[%!].*$", "", cell.source))
        modules = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        ours = [name for name in modules if name and name.startswith("gymspace")]
        assert all(map(READING.match, ours)), ours


@pytest.mark.parametrize(
    ("number", "says", "pictures"),
    [
        ("01", "6 designs, 12 trials: 12 done", 1),
        ("03", "out-of-bag R2", 2),
        ("04", "HalfMean - GCN", 1),
    ],
)
def test_it_runs_top_to_bottom(number, says, pictures, execute, tmp_path):
    path = next(path for path in NOTEBOOKS if path.stem.startswith(number))
    said, drawn = execute(path, tmp_path)
    assert says in said
    assert drawn == pictures
    assert "\x1b" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("published", [False, pytest.param(True, id="published")])
def test_design_choices_says_what_it_read(published, execute, tmp_path):
    if published and not HAVE_REAL_DATA:
        pytest.skip(f"no published tables in {REAL_DATA}: set GYMSPACE_DATA")
    said, drawn = execute(FOLDER / "02_design_choices.ipynb", REAL_DATA if published else tmp_path)
    assert ("NOT the published study" in said) != published
    assert "groups are partial" in said
    assert drawn == (6 if published else 4)


def test_pages_of_the_site_have_outputs_only_of_the_same_cells(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER.parent / "docs" / "hooks"))
    from notebook_pages import notebook_pages

    (tmp_path / "build" / "notebooks").mkdir(parents=True)
    run = new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("1 + 1")])
    plain = deepcopy(run)
    run.cells[1].outputs = [new_output("execute_result", {"text/plain": "the sum is 2"})]
    (tmp_path / "notebooks").mkdir()
    for path, notebook in (("notebooks", plain), ("build/notebooks", run)):
        nbformat.write(notebook, tmp_path / path / "a.ipynb")
    assert "the sum is 2" in notebook_pages(tmp_path)["notebooks/a.md"]
    plain.cells[1].source = "1 + 2"
    nbformat.write(plain, tmp_path / "notebooks" / "a.ipynb")
    page = notebook_pages(tmp_path)["notebooks/a.md"]
    assert page.startswith("# Title\n\n*This copy was not run")
    assert "the sum is 2" not in page
