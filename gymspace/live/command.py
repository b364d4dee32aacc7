"""`serve`: sweeps in the browser while they run."""

import os
import socket
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from gymspace.errors import ConfigError
from gymspace.live.server import app

PORT = 8610
_LOCAL = ["localhost", "127.0.0.1"]


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("folder", type=Path, help="a folder of sweeps, results/, or one sweep")
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"by default {PORT}")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen at, by default this machine's own; 0.0.0.0 shows the sweeps "
        "to everybody who can reach this machine",
    )


def run(asked: Namespace) -> None:
    """Serve until Ctrl-C."""
    if not asked.folder.is_dir():
        raise ConfigError("results", "there is no such folder", value=asked.folder)
    with listening(asked.host, asked.port) as opened:
        host, port = opened.getsockname()[:2]
        print(f"{asked.folder} is shown at http://{_in_url(host)}:{port}/ until Ctrl-C", flush=True)
        if not _is_loopback(host):
            print("anybody who can reach this machine can read it", flush=True)
        made = app(asked.folder, _LOCAL if host in _LOCAL else None)
        config = uvicorn.Config(made, log_level="warning", timeout_graceful_shutdown=1)
        with suppress(KeyboardInterrupt):  # uvicorn hands it on once it has closed everything
            uvicorn.Server(config).run(sockets=[opened])
    print("ended")


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at ``host`` and ``port``; 0 is any free port.

    Raises:
        ConfigError: the port is taken, or there is no such address here.
    """
    if not 0 <= port < 2**16:
        raise ConfigError("--port", "must be 0 to 65535", value=port)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        problem = f"cannot be listened at on {host}: {why}; choose another"
        raise ConfigError("--port", problem, value=port) from error


def _is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
