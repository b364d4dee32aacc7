"""What an exception in a rank means to the parent: a line, its kind, whether the rank is sound."""

import time
import traceback

from gymspace.dist.jobs import Fault, Kind
from gymspace.errors import ConfigError, lacks_memory

ONE_LINE = 500


def fault_of(error: BaseException, rank: int, *, alone: bool) -> Fault:
    """What ``error`` came to in ``rank``; one that shares nothing, ``alone``, can go on after it.

    After an error of a GPU kernel every later call of that process fails too, and ranks that failed
    together may wait for each other.
    """
    kind = kind_of(error)
    text = str(error) if kind == "config" else f"{type(error).__name__}: {error}"
    line = " ".join(("out of memory: " * (kind == "memory") + text).split())
    return Fault(
        rank,
        time.monotonic(),
        line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1]}…",
        "".join(traceback.format_exception(error)),
        key=error.key if isinstance(error, ConfigError) else None,
        kind=kind,
        clean=alone and isinstance(error, Exception) and kind != "memory",
    )


def kind_of(error: BaseException) -> Kind:
    """The kind of failure that ``error`` is."""
    if isinstance(error, ConfigError):
        return "config"
    return "memory" if lacks_memory(error) else "error"
