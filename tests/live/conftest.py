"""A server of sweeps on a free port of this machine."""

import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest
import uvicorn

from gymspace.live.command import listening
from gymspace.live.server import app
from tests.report.conftest import grid_folder


class Asked:
    """The server of ``root``; paths are sent as they are written."""

    def __init__(self, root: Path, port: int):
        self.root, self.port = root, port

    def __call__(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text


@pytest.fixture
def served(tmp_path) -> Asked:
    """Two sweeps, a folder that is none, and a secret beside the folder of sweeps."""
    root = tmp_path / "results"
    grid_folder(root / "grid", seeds=(0, 1))
    (root / "notes").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "other" / "trials").mkdir(parents=True)
    with listening("127.0.0.1", 0) as opened:
        made = app(root, ["127.0.0.1", "localhost"])
        server = uvicorn.Server(uvicorn.Config(made, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield Asked(root, opened.getsockname()[1])
        server.should_exit = True
        thread.join()
