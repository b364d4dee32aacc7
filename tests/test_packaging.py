"""What is built and what is pinned: the wheel holds all it needs, the lock holds every package."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# Only the CUDA build of torch asks for these.
ELSEWHERE = re.compile("nvidia|cuda|triton")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the sdist as a release is, without network."""
    out = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    assert len(list(out.glob("*.tar.gz"))) == 1
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel unpacked by pip, for PYTHONPATH."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--target", str(target), str(wheel)], check=True)
    return target


def python(*arguments, path, cwd):
    """What a Python prints that looks for packages in ``path`` first."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(folder, pattern):
    return {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob(pattern)}


def test_the_wheel_holds_code_and_configs_and_nothing_else(wheel):
    code = files("gymspace", "*.py") | files("hydra_plugins", "*.py")
    code |= {name for name in files("gymspace", "*.*") if "/templates/" in name}
    configs = {f"gymspace/{name}" for name in files("conf", "*.yaml")}
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert "gymspace/conf/config.yaml" in names
    assert any(name.startswith("hydra_plugins/gymspace_sweeper/") for name in names)
    assert "hydra_plugins/__init__.py" not in names
    assert names == code | configs


def test_a_wheel_finds_its_own_configs_from_any_folder(installed, tmp_path):
    where = python("-c", "import gymspace; print(gymspace.__file__)", path=installed, cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed)
    printed = python("-m", "gymspace", "--info", "searchpath", path=installed, cwd=tmp_path)
    assert str(installed / "gymspace" / "conf") in printed
    assert str(ROOT / "conf") not in printed


def test_a_wheel_composes_an_experiment(installed, tmp_path):
    asked = ("+experiment=node_grid", "--cfg", "job")
    printed = python("-m", "gymspace", *asked, path=installed, cwd=tmp_path)
    assert "layers_post_mp: " in printed
    assert "name: node_grid" in printed
    assert list(tmp_path.iterdir()) == []


def lock_lines():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def locked():
    pins = [line.split("==") for line in lock_lines()]
    return {canonicalize_name(name): version for name, version in pins}


def needed(name, extras):
    """Canonical names of all packages that ``name`` needs here, in turn."""
    found, todo = set(), [(name, frozenset(extras))]
    while todo:
        asked = todo.pop()
        if asked in found:
            continue
        found.add(asked)
        for line in metadata.requires(asked[0]) or ():
            wanted = Requirement(line)
            markers = [{"extra": extra} for extra in asked[1] or [""]]
            if not wanted.marker or any(wanted.marker.evaluate(marker) for marker in markers):
                todo.append((canonicalize_name(wanted.name), frozenset(wanted.extras)))
    return {name for name, _ in found}


def test_the_lock_pins_every_package_that_is_needed():
    names = {name for name in needed("gymspace", ["dev"]) if not ELSEWHERE.match(name)}
    assert names - {"gymspace"} == set(locked())


def test_the_lock_names_no_source_and_no_build_of_a_package():
    assert [line for line in lock_lines() if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert locked()["torch"] == "2.13.0"


def test_the_tests_run_on_the_locked_versions():
    here = {name: metadata.version(name).partition("+")[0] for name in locked()}
    assert here == locked()
