"""What every attention has: queries, keys and values by head, and the map that joins the heads."""

from typing import NamedTuple

from torch import Tensor, nn

from gymspace.errors import ConfigError


class QKV(NamedTuple):
    """Queries, keys and values, each [..., heads, dim / heads]."""

    query: Tensor
    key: Tensor
    value: Tensor


def share(dropout: float) -> float:
    """``dropout`` of an attention, or `ConfigError` if it is no share below all."""
    if not 0 <= dropout < 1:
        raise ConfigError("model.attention.dropout", "must be 0 or more, below 1", value=dropout)
    return dropout


class Heads(nn.Module):
    """The linear maps around an attention of ``heads`` heads on features of width ``dim``.

    Initialised as `torch.nn.MultiheadAttention`, whose ``in_proj_weight`` is ``qkv.weight`` here.

    Raises:
        ConfigError: ``heads`` does not divide ``dim``.
    """

    def __init__(self, dim: int, heads: int):
        super().__init__()
        if heads < 1 or dim % heads:
            raise ConfigError(
                "model.attention.heads", f"must divide the width {dim} of the layer", value=heads
            )
        self.heads = heads
        self.dim = dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        nn.init.xavier_uniform_(self.qkv.weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def extra_repr(self) -> str:
        return f"heads={self.heads}"

    def split(self, x: Tensor) -> QKV:
        """[..., dim] -> queries, keys, values of each head."""
        return QKV(*self.qkv(x).unflatten(-1, (3, self.heads, self.dim)).unbind(-3))

    def join(self, x: Tensor) -> Tensor:
        """[..., heads, dim / heads] -> [..., dim]."""
        return self.out(x.flatten(-2))
