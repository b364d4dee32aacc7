"""The docs site: it builds without a warning, and what it says of commands and keys is so."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gymspace import registry
from gymspace.schema import keys
from gymspace.spec import TrialSpec
from gymspace.sweep.settings import Settings
from tests.cli import Cli

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "results" / "README.md"]
MADE = {"config.md", "names.md", "architecture.md", "contributing.md", "changelog.md"}
HITS = re.search(
    r"```python\n(import torch\n.*?)```", (ROOT / "docs/guide/own.md").read_text(), re.S
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site. There is no warning, or the build would have failed."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def hooks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "hooks"))


def commands(program):
    """Every command line in the pages that starts ``program``, without comments."""
    texts = (page.read_text().replace("\\\n", " ") for page in PAGES)
    lines = (line for text in texts for line in text.splitlines())
    found = {m.strip() for line in lines for m in re.findall(rf"{program}((?: [^#`]*)?)", line)}
    return sorted(words for words in found if not re.search(r"<|\.\.\.|\[OPTIONS|,$", words))


def test_no_page_fetches_anything_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    fetched = r"<(?:script|img|iframe)[^>]*src=\"https?:|<link[^>]*rel=\"stylesheet\"[^>]*https?:"
    assert [page.name for page in pages if re.search(fetched, page.read_text())] == []


def test_pages_made_from_the_code_are_in_the_site(site):
    assert "gatedgcn" in (site / "reference" / "names.html").read_text()
    assert "model.layers_pre_mp" in (site / "reference" / "config.html").read_text()
    assert not list(site.rglob("*.py"))


def test_the_config_reference_has_every_key_and_says_what_it_means(hooks):
    from config_page import config_page

    page = config_page((ROOT / "conf" / "config.yaml").read_text())
    rows = dict(re.findall(r"^\| `([\w.]+)`.*\| (.*?) \|$", page, re.M))
    assert set(rows) == {*keys(TrialSpec), *keys(Settings)}
    assert [key for key, meaning in rows.items() if not meaning.strip()] == []


def test_the_config_reference_has_the_defaults_and_limits_of_the_code(hooks):
    from config_page import config_page

    lines = config_page("").splitlines()
    assert "| `model.dropout` | `0.0` | number, at least 0, below 1 |  |" in lines
    assert any(
        line.startswith("| `log.tensorboard` ◦ | `true` | true or false |") for line in lines
    )
    assert any("| `model.jumping` | `last` | `last`, `concat`, `max` |" in line for line in lines)


def test_the_page_of_names_has_every_row_of_every_table(hooks):
    from names_page import names_page

    sections = names_page().split("\n## ")[1:]
    found = {s.splitlines()[0]: re.findall(r"^\| `([\w]+)` \| \S", s, re.M) for s in sections}
    assert found == {key: list(table) for key, table in registry.TABLES.items()}
    assert "`heads=1`" in next(s for s in sections if s.startswith("model.layer"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    paths = [page.parent / link for link in links if Path(link).name not in MADE]
    assert [str(path) for path in paths if not path.exists()] == []


@pytest.mark.parametrize("words", commands("python -m gymspace"))
def test_commands_are_understood(words, stand_in, tmp_path, monkeypatch, capsys):
    cli = Cli(tmp_path, monkeypatch, capsys)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "hits.py").write_text(HITS[1])
    if "--" in words or "gcm" in words:  # asks Hydra for information; is shown as a mistake
        return
    data = (f"data.root={stand_in}", f"data.cache={tmp_path / 'cache'}")
    assert cli(*shlex.split(words), *data, "sweep.dry=true").err == ""


def test_there_are_commands_to_check():
    assert len(commands("python -m gymspace")) > 20
    assert "results/node_grid" in commands("python -m gymspace.results")


def test_make_targets_exist():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"(?:`|^)make ([a-z]+)", "\n".join(p.read_text() for p in DOCS), re.M)
    assert named
    assert set(named) <= set(targets)


def test_the_metric_of_the_guide_measures():
    space: dict = {}
    exec(HITS[1], space)
    metric = space["Hits"]()
    pred = torch.tensor([[3.0, 2, 1], [3, 2, 1], [1, 2, 3]])
    state = metric.update(pred, torch.tensor([1, 2, -1]), torch.ones(3, dtype=torch.bool))
    assert metric.compute(state)[:2] == (0.5, 2)
