"""Storages that fail: each is told in one line, and nothing is changed."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from gymspace.errors import ConfigError
from gymspace.sweep.spaces.space import identity
from gymspace.sweep.study import storage as storage_module
from gymspace.sweep.study.storage import connect, shown
from tests.sweep.searches import open_study, proposals
from tests.sweep.servers import free_port, proxy


@pytest.fixture
def journal(tmp_path):
    """A journal with a finished search of one design."""
    path = tmp_path / "study.journal"
    study = open_study(str(path), "study")
    proposals(study, most=1)
    return path


@pytest.mark.parametrize(
    "garbage",
    [b"{not json\n", b'"text"\n', b'{"op_code": 4}\n', b'{"op_code": 4, "wor', b"\0\0\0\n"],
)
@pytest.mark.parametrize("at", [2, -1])
def test_a_corrupt_journal_is_refused_with_the_line(journal, garbage, at):
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[at] = garbage if at == -1 else garbage.rstrip(b"\n") + b"\n"
    journal.write_bytes(before := b"".join(lines))
    number = at + 1 if at > 0 else len(lines)
    with pytest.raises(ConfigError, match=f"study.journal: line {number} is no record"):
        connect(str(journal))
    assert journal.read_bytes() == before


def test_a_line_that_was_cut_off_later_stops_the_search(journal):
    study = open_study(str(journal), "study")
    with journal.open("ab") as file:
        file.write(b'{"op_code":4,"wor\n{}\n')
    with pytest.raises(ConfigError, match=r"sweep\.storage=.*line \d+ is no record"):
        study.settled()


def test_a_journal_that_another_process_keeps_is_locked(journal, monkeypatch):
    monkeypatch.setattr(storage_module, "ANSWER", 0.1)
    with (
        FileLock(journal.with_name(".study.journal.lock")),
        pytest.raises(ConfigError, match=r"study\.journal: is locked"),
    ):
        connect(str(journal))


def test_a_process_that_is_killed_leaves_no_lock(journal):
    """Optuna's own lock stays for half a minute."""
    code = (
        "import os, sys; from gymspace.sweep.study.storage import Turn; from pathlib import Path;"
    )
    code += "Turn(Path(sys.argv[1]), 5).acquire(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(journal)], check=False)
    study = open_study(str(journal), "study")
    assert study.ask(identity) is not None


def test_only_the_end_of_a_trial_waits_for_the_disk(journal, monkeypatch):
    synced = []
    monkeypatch.setattr(storage_module.os, "fsync", synced.append)
    study = open_study(str(journal), "study")
    asked = study.ask(identity)
    assert synced == []
    study.tell(asked, "done", [0.5])
    assert len(synced) == 1
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert "datetime_complete" in records[-1]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("grpc://127.0.0.1:{port}", "does not answer"),
        ("grpc://127.0.0.1", "host:port"),
        ("postgresql://me:secret@127.0.0.1:{port}/db", "does not answer: .*refused"),
        ("mysql://127.0.0.1/db", "is no storage; choices: .*grpc://host:port"),
        ("study.db", "is no storage"),
        ("/proc/nowhere/study.journal", "cannot be written"),
    ],
)
def test_a_storage_that_is_not_there_is_told_in_one_line(url, problem, monkeypatch):
    monkeypatch.setattr(storage_module, "ANSWER", 1.0)
    with pytest.raises(ConfigError, match=f"sweep.storage=.*: .*{problem}") as told:
        connect(url.format(port=free_port()))
    assert "\n" not in str(told.value)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("scheme", ["grpc", "postgresql"])
def test_a_server_that_listens_and_says_nothing_does_not_answer(scheme, monkeypatch):
    monkeypatch.setattr(storage_module, "ANSWER", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(ConfigError, match="does not answer"):
            connect(f"{scheme}://127.0.0.1:{port}/db")


def test_a_server_that_ends_is_told_in_one_line(tmp_path, name):
    with proxy(str(tmp_path / "study.journal")) as url:
        study = open_study(url, name)
        assert study.settled() == {}
    with pytest.raises(ConfigError, match=r"sweep\.storage=grpc://.*: failed: ") as told:
        study.settled()
    assert "\n" not in str(told.value)


def test_no_password_is_shown():
    assert shown("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"
    assert shown("postgresql://me:sec@ret@host/db") == "postgresql://me:***@host/db"
    assert shown("grpc://host:13000") == "grpc://host:13000"
    assert shown(str(Path("a:b@c.journal"))) == "a:b@c.journal"


@pytest.mark.parametrize(
    "url", ["postgresql://me:s@host:port/db", "postgresql://me:s@[::1/db", "grpc://[::1:3"]
)
def test_an_address_that_is_none_is_told_in_one_line(url):
    with pytest.raises(ConfigError, match=r"sweep\.storage=.*does not answer"):
        connect(url)
