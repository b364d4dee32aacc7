"""Take turns between peers, and compare them turn by turn: the machine's moods hit all alike."""

import random
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

Turn = Callable[[], object]


def seconds(peers: Mapping[str, Turn], rounds: int, warm: int = 1) -> dict[str, list[float]]:
    """Duration of each peer's turns, in random order within a round, after ``warm`` rounds."""
    order = random.Random(0)
    taken: dict[str, list[float]] = {name: [] for name in peers}
    for number in range(warm + rounds):
        for name in order.sample(list(peers), len(peers)):
            begun = time.perf_counter()
            peers[name]()
            if number >= warm:
                taken[name].append(time.perf_counter() - begun)
    return taken


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median and quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.{digits}f} ({low:.{digits}f} .. {high:.{digits}f})"


def ratio(taken: Mapping[str, Sequence[float]], over: str, under: str) -> str:
    """Spread of the round-by-round ratio of two peers."""
    pairs = zip(taken[over], taken[under], strict=True)
    return spread([above / below for above, below in pairs])
