"""Encodings that are a few numbers of each node, as features in one of several forms."""

from torch import Tensor

from gymspace.encodings.base import Encoding, Tensors
from gymspace.encodings.forms import Form
from gymspace.graph.graph import Graph


class Augmented(Encoding):
    """Numbers of each node [N, C], in one of the forms of `gymspace.encodings.forms`."""

    numbers: str  # name of their tensor

    def __init__(self, form: str, dim: int | None, columns: int = 1):
        super().__init__()
        self.form = Form(form, dim)
        self.dim = columns * self.form.each

    def finish(self, tensors: Tensors) -> Tensors:
        bins = self.form.bins(tensors[self.numbers])
        return tensors if bins is None else {**tensors, f"{self.numbers}.bin": bins}

    def forward(self, graph: Graph) -> Tensor:
        tensors = graph.encodings
        return self.form.features(tensors[self.numbers], tensors.get(f"{self.numbers}.bin"))

    def extra_repr(self) -> str:
        return f"form={self.form.kind}, dim={self.dim}"
