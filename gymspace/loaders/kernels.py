"""Which edges of a column are sampled: spans that may be, and draws among them.

Draw number i of a batch is SplitMix64 at ``state + (i + 1) * GOLDEN`` (Steele et al. 2014), so a
batch depends on its first state and on nothing else.
"""

import numpy as np

from gymspace.loaders.compiled import ahead, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U32 = (np.uint64(n) for n in (27, 30, 31, 32))
_ONE = np.uint64(1)
_WORD = 64


@kernel
def mixed(value):
    """A uint64 with all bits of ``value`` spread over it."""
    value = (value ^ (value >> _U30)) * _FIRST
    value = (value ^ (value >> _U27)) * _SECOND
    return value ^ (value >> _U31)


@kernel
def below(state, bound):
    """An integer below ``bound``, from the upper half of the draw at ``state``."""
    return np.int64(((mixed(state) >> _U32) * np.uint64(bound)) >> _U32)


@kernel
def spans(start, nodes, first, last, low, high):
    """Bounds of the columns of ``nodes[first:last]``, written to ``low`` and ``high``."""
    for i in range(first, last):
        if i + 16 < last:
            ahead(start, nodes[i + 16])
        low[i - first] = start[nodes[i]]
        high[i - first] = start[nodes[i] + 1]


@kernel
def wanted(low, high, count, fanout, replace):
    """How many edges ``fanout`` takes of the first ``count`` spans."""
    total = 0
    for i in range(count):
        size = high[i] - low[i]
        if fanout >= 0 and size > 0 and (replace or size > fanout):
            size = fanout
        total += size
    return total


@kernel
def draw(low, high, count, fanout, state, row, edge, target, at):
    """Up to ``fanout`` different edges of each span, each set of them equally likely.

    By Floyd's algorithm (Bentley & Floyd 1987), or by going through the span where the fanout is
    large. Returns the next place in ``edge`` and ``target``, and the state.
    """
    for i in range(count):
        begin, size = np.int64(low[i]), np.int64(high[i] - low[i])
        mask, mine = np.uint64(0), at
        if fanout < 0 or size <= fanout:
            for place in range(size):
                edge[at] = begin + place
                at += 1
        elif size <= _WORD:
            for place in range(size - fanout, size):
                state += GOLDEN
                drawn = below(state, place + 1)
                if (mask >> np.uint64(drawn)) & _ONE:
                    drawn = place
                mask |= _ONE << np.uint64(drawn)
                edge[at] = begin + drawn
                at += 1
        elif fanout * fanout < 8 * size:
            for place in range(size - fanout, size):
                state += GOLDEN
                drawn = begin + below(state, place + 1)
                for other in range(mine, at):
                    if edge[other] == drawn:
                        drawn = begin + place
                        break
                edge[at] = drawn
                at += 1
        else:
            left = fanout
            for place in range(size):
                state += GOLDEN
                if below(state, size - place) < left:
                    edge[at] = begin + place
                    at += 1
                    left -= 1
        for taken in range(mine, at):
            target[taken] = row + i
    return at, state


@kernel
def draw_again(low, high, count, fanout, state, row, edge, target, at):
    """As `draw`, but ``fanout`` independent edges of each span that has any."""
    for i in range(count):
        begin, size = np.int64(low[i]), np.int64(high[i] - low[i])
        take = size if fanout < 0 else fanout * (size > 0)
        for place in range(take):
            if fanout < 0:
                edge[at] = begin + place
            else:
                state += GOLDEN
                edge[at] = begin + below(state, size)
            target[at] = row + i
            at += 1
    return at, state
