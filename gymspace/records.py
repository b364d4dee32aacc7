"""What the parent and the ranks of a trial hand to each other, and the files of a trial."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from gymspace.spec import TrialSpec

SPEC = "spec.json"
RESULT = "result.json"
HISTORY = "history.csv"
LOG = "trial.log"


@dataclass(frozen=True)
class Facts:
    """What only building a design shows: its size, what it is made of, how its nodes are split.

    ``warnings`` is what in it has no effect; ``directions`` has "max" or "min" by metric.
    """

    params: int
    architecture: str
    split: str
    warnings: tuple[str, ...] = ()
    directions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Inspect:
    """Asks a rank to build the design of ``spec`` on its data and to say what it found."""

    spec: TrialSpec


@dataclass(frozen=True)
class Run:
    """Asks the ranks to run the trial of ``spec`` in its ``folder``, which is there.

    ``choices`` are its swept keys. A trial that ``heeds`` waits after each evaluated epoch for what
    the parent says of it; another one takes a `Verdict` if there is one.
    """

    spec: TrialSpec
    folder: Path
    choices: Mapping[str, Any]
    heeds: bool = False


@dataclass(frozen=True)
class Progress:
    """One evaluated epoch of a running trial: its number, of how many, and the choosing metric."""

    epoch: int
    epochs: int
    value: float


@dataclass(frozen=True)
class Verdict:
    """What the parent says to a trial after an evaluated epoch, and why.

    ``stop`` ends it for good, with a result of status ``pruned``; ``checkpoint`` ends it without a
    result, and the next run of the trial goes on where it was. Once all epochs are over neither
    changes anything: such a trial is done.
    """

    kind: Literal["go", "stop", "checkpoint"]
    reason: str = ""


GO, KINDS = Verdict("go"), get_args(Verdict.__annotations__["kind"])


class Report(Protocol):
    """How a worker tells the parent how its job is going, and hears what is said to it."""

    def __call__(self, value: Any, wait: bool = ..., /) -> Any:
        """Tell ``value``; return what the parent said, ``None`` for nothing, or wait for it."""


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then put it in its place."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` atomically; nan and infinity become null, which JSON has no words for."""
    text = json.dumps(_finite(content), indent=1, allow_nan=False)
    write_atomic(path, lambda part: part.write_text(text + "\n"))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and value - value != 0 else value


def read_json(path: Path) -> dict[str, Any] | None:
    """What ``path`` holds; None if it is missing or was cut off while being written."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
