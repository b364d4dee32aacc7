"""Storages for studies: a journal, a PostgreSQL server, and Optuna's proxy in front of that."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweep import servers

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server of this test session."""
    if not servers.BINARIES:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    with servers.postgresql() as url:
        yield url


@pytest.fixture
def database(postgresql: str) -> str:
    """The URL of an empty database."""
    return servers.database(postgresql, f"db{next(_NUMBERS)}")


@pytest.fixture(scope="session")
def grpc(postgresql: str) -> Iterator[str]:
    """The URL of a gRPC proxy in front of a database of its own."""
    with servers.proxy(servers.database(postgresql, "proxied")) as url:
        yield url


@pytest.fixture(params=["journal", "postgresql", "grpc"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of storage in turn."""
    if request.param == "journal":
        return str(tmp_path / "study.journal")
    return request.getfixturevalue(request.param)


@pytest.fixture
def name() -> str:
    """A name for a study that no other test has given."""
    return f"study{next(_NUMBERS)}"
