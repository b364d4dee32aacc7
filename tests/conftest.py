"""Where the tests find real graphs: $GYMSPACE_DATA, or `shared/data` beside the checkout."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from tests.graph import many, planetoid, raw
from tests.programs import Program

# A shell lets what it starts in the background ignore Ctrl-C, and all that this starts as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("house", deadline=None)  # no test is timed
settings.load_profile("house")

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL_DATA = Path(os.environ.get("GYMSPACE_DATA") or _BESIDE)
HAVE_REAL_DATA = (REAL_DATA / "planetoid" / "Cora" / "raw").is_dir()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real graphs, a read-only `data.root`; the test is skipped where there is none."""
    if not HAVE_REAL_DATA:
        pytest.skip(f"no graphs in {REAL_DATA}: set GYMSPACE_DATA")
    return REAL_DATA


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `data.root` with the raw files of small datasets that are not the real ones."""
    root = tmp_path_factory.mktemp("data")
    planetoid.write(root / "planetoid")
    many.write_tu(root)
    for write in (raw.minesweeper, raw.esol, raw.zinc, raw.peptides_func):
        write(root)
    return root


@pytest.fixture(params=["stand-in", *(["real"] if HAVE_REAL_DATA else [])])
def cora_root(request: pytest.FixtureRequest) -> Path:
    """A `data.root` from which dataset=cora loads: the stand-in, and real Cora where it is."""
    return request.getfixturevalue("stand_in" if request.param == "stand-in" else "shared_data")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder that is removed at once: pytest keeps those of three runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.fixture
def launch() -> Iterator[Callable[..., Program]]:
    """Start the program in a folder; whatever the test leaves of it is killed."""
    programs: list[Program] = []

    def start(folder: Path, words: Sequence[str]) -> Program:
        programs.append(Program(folder, words))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()
        if program.process.stdout:
            program.process.stdout.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """In continuous integration nothing may be missing: a skipped test is a failed one."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {report.longrepr}"
    return report
