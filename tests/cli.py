"""The command line, called in this process."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gymspace import __main__ as program
from tests.sweep.launchers import Script


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    code: int
    out: str
    err: str
    script: Script

    @property
    def ran(self) -> list[Any]:
        """The specs of the trials that were run."""
        return self.script.ran


class Cli:
    """Calls `main` in ``folder`` with a launcher in place of the warm slots."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
        self.folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["gymspace"])
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
        monkeypatch.setenv("COLUMNS", "200")

    def __call__(self, *words: str, make: Callable[[], Script] = Script) -> Ended:
        script = make()
        self._monkeypatch.setattr(program, "launcher", lambda settings: script)
        self._capsys.readouterr()
        code: Any = 0
        try:
            with same_logging():
                program.main(list(words))
        except SystemExit as end:
            code = end.code
        return Ended(code, *self._capsys.readouterr(), script)

    def experiment(self, name: str, text: str) -> tuple[str, ...]:
        """Write an experiment of the user's own; returns the words that choose it."""
        path = self.folder / "own" / "experiment" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# @package _global_\n{text}")
        return "--config-dir", "own", f"+experiment={name}"

    def dry(self, *words: str) -> list[str]:
        """The lines of a dry run."""
        ended = self(*words, "sweep.dry=true")
        assert (ended.code, ended.err, len(ended.ran)) == (0, "", 1)
        *lines, last = ended.out.splitlines()
        assert last.startswith("about ")
        return lines


@contextmanager
def same_logging() -> Iterator[None]:
    """Undo what Hydra does to the process's logging when it is asked for information."""
    loggers = [logging.getLogger(), logging.getLogger("hydra")]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    try:
        yield
    finally:
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
