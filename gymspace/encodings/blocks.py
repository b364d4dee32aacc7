"""Long work on many nodes: in blocks that fit in memory, with a line in the log now and then."""

import logging
import time
from collections.abc import Iterator

import numpy as np

log = logging.getLogger(__name__)

# Numbers in one dense [nodes, block] array: 32 MB of float64.
NUMBERS = 4_000_000
SECONDS = 10.0


def blocks(what: str, items: np.ndarray, nodes: int) -> Iterator[np.ndarray]:
    """``items`` in blocks, so that an array [nodes, block] stays small; ``what`` names the work."""
    size = max(1, min(256, NUMBERS // max(nodes, 1)))
    told = time.monotonic()
    for start in range(0, len(items), size):
        yield items[start : start + size]
        if time.monotonic() - told > SECONDS:
            told = time.monotonic()
            done = min(start + size, len(items))
            log.info("%s: %d of %d nodes", what, done, len(items))


def spread(nodes: int, most: int) -> np.ndarray:
    """``most`` of the nodes, drawn the same each time, or all of them if there are no more."""
    if nodes <= most:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(0).choice(nodes, most, replace=False))
