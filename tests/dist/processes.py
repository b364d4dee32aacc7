"""What /proc says about processes; a zombie counts as gone."""

import time
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether the process runs."""
    return _stat(pid)[0] not in ("", "Z", "X")


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    parents = {int(p.name): _stat(int(p.name))[1] for p in Path("/proc").glob("[0-9]*")}
    found = [pid]
    for above in found:
        found += [child for child, parent in parents.items() if parent == str(above)]
    return found[1:]


def until(condition, seconds=30.0) -> bool:
    """Wait for ``condition()``; False if it did not come true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["", ""]
