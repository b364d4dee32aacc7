"""`serve` on the command line: an address, one line for what is wrong, and a clean end."""

import os
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from gymspace.errors import ConfigError
from gymspace.live.command import listening
from gymspace.results.__main__ import main


def test_ctrl_c_ends_it(tmp_path):
    command = [sys.executable, "-m", "gymspace.results", "serve", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = server.stdout.readline().split(" at ")[1].split()[0]
    assert address.startswith("http://127.0.0.1:")
    assert b"no sweep yet" in urlopen(address).read()
    os.kill(server.pid, signal.SIGINT)
    out, err = server.communicate(timeout=60)
    assert (server.returncode, out, err) == (0, "ended\n", "")


def test_a_port_in_use_is_one_line(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(tmp_path), "--port", str(port)]) == 2
    problem = "cannot be listened at on 127.0.0.1: Address already in use; choose another"
    assert capsys.readouterr().err == f"--port={port}: {problem}\n"


@pytest.mark.parametrize("port", [-1, 65536])
def test_no_such_port(port):
    with pytest.raises(ConfigError, match="must be 0 to 65535"):
        listening("127.0.0.1", port)


def test_no_such_folder(tmp_path, capsys):
    assert main(["serve", str(tmp_path / "no")]) == 2
    assert capsys.readouterr().err.endswith("no: there is no such folder\n")
