"""The rows that sampled nodes get, each node once, in tables that are never cleared."""

import numpy as np

from gymspace.loaders.compiled import ahead, kernel

_LIMIT = np.iinfo(np.int32).max


@kernel
def _enter(slot, base, nodes, count):
    for row in range(count):
        if slot[nodes[row]] < base:
            slot[nodes[row]] = base + row


@kernel
def _relabel(source, edge, first, last, slot, base, nodes, count, local):
    for e in range(first, last):
        if e + 32 < last:
            ahead(source, np.int64(edge[e + 32]))
        local[e] = source[edge[e]]
    for e in range(first, last):
        if e + 24 < last:
            ahead(slot, np.int64(local[e + 24]))
        node = local[e]
        row = slot[node] - base
        if row < 0:
            row = count
            slot[node] = base + count
            nodes[count] = node
            count += 1
        local[e] = row
    return count


def room(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    """``array``, or one at least half as large again with its first ``used`` values kept."""
    if needed <= array.size:
        return array
    larger = np.empty(max(needed, array.size * 3 // 2), array.dtype)
    larger[:used] = array[:used]
    return larger


class Rows:
    """Nodes of one type in the order of their rows; ``bounds`` are the ends of the hops.

    A node has a row in this batch if its stamp is at least ``base``, which rises from batch to
    batch; so nothing is cleared until the stamps run out.
    """

    def __init__(self, size: int):
        """For a type of ``size`` nodes."""
        self.slot = np.zeros(size, np.int32)
        self.base, self.count, self.bounds = 1, 0, [0]
        self.nodes = np.empty(0, np.int64)

    def begin(self, seeds: np.ndarray) -> None:
        """Forget the last batch; one row for each of ``seeds``, also for one that comes twice."""
        self.base += self.count
        self.nodes = room(self.nodes, 0, seeds.size)
        self.nodes[: seeds.size] = seeds
        self.count, self.bounds = seeds.size, [0, seeds.size]
        self._spare(seeds.size)
        _enter(self.slot, self.base, self.nodes, self.count)

    def add(self, source: np.ndarray, edge: np.ndarray, local: np.ndarray, more: slice) -> None:
        """Rows of ``source[edge[more]]`` into ``local[more]``; what has none gets the next."""
        first, last = more.start, more.stop
        self.nodes = room(self.nodes, self.count, self.count + last - first)
        self._spare(self.count + last - first)
        self.count = _relabel(
            source, edge, first, last, self.slot, self.base, self.nodes, self.count, local
        )

    def end_hop(self) -> None:
        """What was added since the last hop is one."""
        self.bounds.append(self.count)

    def _spare(self, count: int) -> None:
        if self.base + count > _LIMIT:
            self.slot[:] = 0
            self.base = 1
            _enter(self.slot, self.base, self.nodes, self.count)
