"""The sweeps below a folder as a server knows them: how far each is, its page, its files."""

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from gymspace.errors import ConfigError
from gymspace.records import HISTORY, LOG, RESULT, SPEC, read_json
from gymspace.report.compose import compose
from gymspace.report.page import render
from gymspace.results.cache import Kept, read_kept, refreshed
from gymspace.results.read import read_sweep
from gymspace.results.view import View, load_view, view_of

FILES = (LOG, RESULT, SPEC, HISTORY)
_OWNER = ".owner"
_BAD = ("failed", "diverged", "timeout")
_REST = 5  # seconds between pages, per second that one takes to make


@dataclass(frozen=True)
class State:
    """How far a sweep is, in words and as a share; ``version`` changes with what it would show."""

    name: str
    text: str
    share: float | None
    version: str


@dataclass
class Sweep:
    """One sweep's folder. What was read of it is kept here; nothing is written there."""

    folder: Path
    _kept: Kept | None = None
    _page: tuple[str, str] = ("", "")
    _seconds: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    @property
    def wait(self) -> float:
        """Seconds after which it is fair to ask again."""
        return _REST * self._seconds

    def state(self) -> State:
        """How far it is now; that of a folder that cannot be read says why."""
        with self._lock:
            try:
                sweep = read_sweep(self.folder)
                return _state(self._view(sweep), sweep)
            except ConfigError as error:
                return State(self.folder.name, str(error), None, _digest(str(error)))

    def page(self) -> str:
        """Its report as HTML, made anew if there is news.

        Raises:
            ConfigError: nothing has finished yet, or the folder is damaged.
        """
        with self._lock:
            begun = time.monotonic()
            sweep = read_sweep(self.folder)
            view = self._view(sweep)
            version = _state(view, sweep).version
            if self._page[0] != version:
                live = {"state": "state.json", "version": version}
                self._page = version, render(compose(view, sweep), live)
                self._seconds = time.monotonic() - begun
            return self._page[1]

    def file(self, trial: str, name: str) -> str | None:
        """The text of one of a trial's `FILES`; None for any other and for what lies elsewhere."""
        trials = (self.folder / "trials").resolve()
        path = trials / trial / name
        try:
            if name not in FILES or path.resolve() != path or path.parent.parent != trials:
                return None
            return path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _view(self, sweep: Mapping[str, Any]) -> View:
        if "imported" in sweep:
            return load_view(self.folder)
        if self._kept is None:
            self._kept = read_kept(self.folder, sweep, write=False)
        self._kept = refreshed(self.folder, sweep, self._kept)
        return view_of(self.folder, self._kept)


def sweeps(root: Path) -> dict[str, Path]:
    """Name -> folder of the sweeps below ``root``, or of ``root`` alone if it is one.

    A link that leads out of ``root`` is none of them.
    """
    whole = root.resolve()
    if _is_sweep(whole):
        return {whole.name: whole}
    paths = sorted(path for path in whole.iterdir() if not path.name.startswith("."))
    inside = (path for path in paths if path.resolve().is_relative_to(whole))
    return {path.name: path for path in inside if _is_sweep(path)}


def _is_sweep(path: Path) -> bool:
    return (path / "trials").is_dir() or (path / "sweep.json").is_file()


def _state(view: View, sweep: Mapping[str, Any]) -> State:
    finished, planned = len(view.records), sweep.get("trials") or None
    if planned and planned < finished + view.unfinished:  # it was widened another way
        planned = None
    failed = sum(record["status"] in _BAD for record in view.records)
    parts = [f"{finished:,} of {planned:,} finished" if planned else f"{finished:,} finished"]
    parts += [f"{failed:,} of them badly"] if failed else []
    parts += [f"{view.unfinished:,} without a result"] if view.unfinished else []
    parts += ["running"] if _held(view.folder) else []
    share = finished / planned if planned else None
    return State(view.folder.name, ", ".join(parts), share, _version(view, sweep))


def _version(view: View, sweep: Mapping[str, Any]) -> str:
    seen = [[r["trial"], r["status"], r.get("seconds"), r.get("test_loss")] for r in view.records]
    return _digest(json.dumps([seen, sweep.get("command"), sweep.get("aliases")]))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _held(folder: Path) -> bool:
    """Whether a process holds the folder; one on another host is taken to be alive."""
    owner = read_json(folder / _OWNER)
    if owner is None:
        return False
    if owner.get("host") != socket.gethostname():
        return True
    try:
        os.kill(int(owner["pid"]), 0)
    except PermissionError:
        return True
    except (KeyError, TypeError, ValueError, OSError):
        return False
    return True
