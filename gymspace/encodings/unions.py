"""A disjoint union of graphs taken apart, and tensors of its graphs put together."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from gymspace.encodings.base import Tensors


def apart(index: Tensor, nodes: Sequence[int]) -> list[tuple[Tensor, int]]:
    """Edges and number of nodes of each graph in a union of edges [2, E] in the graphs' order."""
    counts = torch.tensor(nodes)
    ends = counts.cumsum(0)
    owner = torch.searchsorted(ends, index[0].contiguous(), right=True)
    sizes = torch.bincount(owner, minlength=len(counts)).tolist()
    own = index - (ends - counts)[owner]
    return list(zip(own.split(sizes, dim=1), nodes, strict=True))


def joined(found: Sequence[Tensors], fill: float) -> Tensors:
    """Each tensor of all graphs [N, ...], as wide as the widest; ``fill`` is what others lack."""
    return {name: _stacked([tensors[name] for tensors in found], fill) for name in found[0]}


def _stacked(tensors: Sequence[Tensor], fill: float) -> Tensor:
    shape = [max(sizes) for sizes in zip(*(tensor.shape[1:] for tensor in tensors), strict=True)]
    return torch.cat([_widened(tensor, shape, fill) for tensor in tensors])


def _widened(tensor: Tensor, shape: Sequence[int], fill: float) -> Tensor:
    missing = [want - have for want, have in zip(shape, tensor.shape[1:], strict=True)]
    if not any(missing):
        return tensor
    pads = [pad for more in reversed(missing) for pad in (0, more)]
    return functional.pad(tensor, pads, value=fill)
