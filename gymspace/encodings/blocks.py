"""Long work on many nodes or graphs, with a line in the log now and then; blocks fit in memory."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

log = logging.getLogger(__name__)

# Numbers in one dense [nodes, block] array: 32 MB of float64.
NUMBERS = 4_000_000
SECONDS = 10.0
T = TypeVar("T")


def blocks(what: str, items: np.ndarray, nodes: int) -> Iterator[np.ndarray]:
    """``items`` in blocks, so that an array [nodes, block] stays small; ``what`` names the work."""
    size = max(1, min(256, NUMBERS // max(nodes, 1)))
    tell = _teller(what, len(items), "nodes")
    for start in range(0, len(items), size):
        yield items[start : start + size]
        tell(min(start + size, len(items)))


def each(what: str, graphs: Sequence[T]) -> Iterator[T]:
    """One of ``graphs`` after the other."""
    tell = _teller(what, len(graphs), "graphs")
    for done, graph in enumerate(graphs, 1):
        yield graph
        tell(done)


def _teller(what: str, total: int, noun: str) -> Callable[[int], None]:
    """Logs how many are done, if the last line was some seconds ago."""
    told = time.monotonic()

    def tell(done: int) -> None:
        nonlocal told
        if time.monotonic() - told > SECONDS:
            told = time.monotonic()
            log.info("%s: %d of %d %s", what, done, total, noun)

    return tell


def spread(nodes: int, most: int) -> np.ndarray:
    """``most`` of the nodes, drawn the same each time, or all of them if there are no more."""
    if nodes <= most:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(0).choice(nodes, most, replace=False))
