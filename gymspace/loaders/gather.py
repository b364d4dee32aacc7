"""Rows of a table brought together by number, of any dtype, into memory that is used again."""

import numpy as np
import torch
from torch import Tensor

from gymspace.loaders.compiled import ahead, kernel

_LINE = 64
_WORDS = (torch.int64, torch.int32, torch.int16, torch.uint8)


@kernel
def _copy(table, rows, width, index, step, out):
    """Row ``index[i]`` of the flat ``table`` to row i of ``out``; the first wrong place, or -1."""
    for i in range(index.size):
        if not 0 <= index[i] < rows:
            return i
    for i in range(index.size):
        if i + 8 < index.size:
            for word in range(0, width, step):
                ahead(table, np.int64(index[i + 8]) * width + word)
        begin = np.int64(index[i]) * width
        for word in range(width):
            out[i * width + word] = table[begin + word]
    return -1


def gather(table: Tensor, index: Tensor, out: Tensor | None = None) -> Tensor:
    """``table[index]`` [R, ...] for a table [N, ...] in main memory or on disk, and index [R].

    Runs without the GIL. ``out`` [R, ...] is written to where it is given.

    Raises:
        IndexError: a row that the table lacks; negative ones do not count from the end.
        ValueError: ``out`` has another shape or dtype, or one of the two is not contiguous.
    """
    shape = (index.numel(), *table.shape[1:])
    out = torch.empty(shape, dtype=table.dtype) if out is None else out
    if out.shape != shape or out.dtype != table.dtype:
        asked, given = f"{tuple(shape)} of {table.dtype}", f"{tuple(out.shape)} of {out.dtype}"
        raise ValueError(f"out: must be {asked}, and is {given}")
    if not table.is_contiguous() or not out.is_contiguous():
        raise ValueError("table, out: must be contiguous")
    size = table.element_size() * table[:1].numel()
    word = next(kind for kind in _WORDS if size % kind.itemsize == 0)
    numbers = np.ascontiguousarray(index.numpy())
    wide, step = size // word.itemsize, _LINE // word.itemsize
    at = _copy(_flat(table, word), len(table), wide, numbers, step, _flat(out, word))
    if at >= 0:
        raise IndexError(f"index: row {numbers[at]} of a table with {len(table):,} rows")
    return out


def _flat(tensor: Tensor, word: torch.dtype) -> np.ndarray:
    return tensor.detach().reshape(-1).view(torch.uint8).view(word).numpy()


class Buffer:
    """Memory for gathered rows: what one call gives is overwritten by the next.

    ``pinned`` memory goes to a GPU while other work is done.
    """

    def __init__(self, pinned: bool = False) -> None:
        self.pinned, self._bytes = pinned, torch.empty(0, dtype=torch.uint8)

    def gather(self, table: Tensor, index: Tensor) -> Tensor:
        """``table[index]``, until the next call."""
        return gather(table, index, self.rows(index.numel(), table))

    def rows(self, count: int, table: Tensor) -> Tensor:
        """Room for ``count`` rows like those of ``table``, at least half as much again if grown."""
        needed = count * table[:1].numel() * table.element_size()
        if needed > self._bytes.numel():
            larger = max(needed, self._bytes.numel() * 3 // 2) + _LINE
            self._bytes = torch.empty(larger, dtype=torch.uint8, pin_memory=self.pinned)
        return self._bytes[:needed].view(table.dtype).view(count, *table.shape[1:])
