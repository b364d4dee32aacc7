"""The repository as a newcomer finds it: commands exist, nothing is bound to one machine."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
TEXT = {".py", ".md", ".yaml", ".toml", ".lock", ".ipynb", ""}


def tracked():
    """Text files that are, or would be, in git."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in names.splitlines()]
    return [path for path in paths if path.suffix in TEXT and path.is_file()]


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: doc.name)
def test_documented_make_targets_exist(doc):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"`make ([a-z]+)|^\s*make ([a-z]+)", doc.read_text(), re.MULTILINE)
    assert named
    assert {a or b for a, b in named} <= set(targets)


def test_ci_checks_and_tests_through_make():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert [line for line in lines if line.startswith("make ")] == ["make lint", "make test"]


def test_at_most_five_hooks_run_before_a_commit():
    config = (ROOT / ".pre-commit-config.yaml").read_text()
    assert 1 <= len(re.findall(r"^\s*- id:", config, re.MULTILINE)) <= 5


@pytest.mark.parametrize("place", ["/work" + "/", "/root" + "/", "/home" + "/", "/Users" + "/"])
def test_no_file_points_at_one_machine(place):
    paths = tracked()
    assert paths
    assert [path for path in paths if place in path.read_text(encoding="utf-8")] == []
