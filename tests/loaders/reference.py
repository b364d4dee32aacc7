"""The sampler written out slowly, with the same random numbers: what the kernels are held to."""

import numpy as np

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mixed(value: int) -> int:
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Stream:
    """SplitMix64 from a key; ``below(n)`` is an integer below n."""

    def __init__(self, key):
        self.state = 0
        for part in key:
            self.state = mixed((self.state + part + _GOLDEN) & _MASK)

    def below(self, bound: int) -> int:
        self.state = (self.state + _GOLDEN) & _MASK
        return ((mixed(self.state) >> 32) * bound) >> 32


def choose(stream: Stream, size: int, fanout: int, replace: bool) -> list[int]:
    """Places in a column of ``size``, in the order in which they are drawn."""
    if fanout < 0 or (not replace and size <= fanout):
        return list(range(size))
    if replace:
        return [stream.below(size) for _ in range(fanout)] if size else []
    if size > 64 and fanout * fanout >= 8 * size:
        taken: list[int] = []
        for place in range(size):
            if stream.below(size - place) < fanout - len(taken):
                taken.append(place)
        return taken
    chosen: list[int] = []
    for place in range(size - fanout, size):
        drawn = stream.below(place + 1)
        chosen.append(place if drawn in chosen else drawn)
    return chosen


def sample(index, seeds, fanouts, key, replace=False):
    """Nodes, (source, target) rows, places in ``index`` [2, E], and new nodes and edges a hop."""
    stream, nodes, places, pairs = Stream(key), list(seeds), [], []
    row = {node: at for at, node in reversed(list(enumerate(nodes)))}
    first, hops = 0, ([len(nodes)], [])
    for fanout in fanouts:
        last, before = len(nodes), len(places)
        drawn = []
        for target in range(first, last):
            column = np.flatnonzero(index[1] == nodes[target])
            drawn += [(column[c], target) for c in choose(stream, len(column), fanout, replace)]
        for place, target in drawn:
            source = int(index[0, place])
            if source not in row:
                row[source] = len(nodes)
                nodes.append(source)
            places.append(int(place))
            pairs.append((row[source], target))
        first = last
        hops[0].append(len(nodes) - last)
        hops[1].append(len(places) - before)
    return nodes, pairs, places, hops
