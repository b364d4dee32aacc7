"""The peer: gymspace's default design written by hand in plain PyTorch and PyG, one loop.

`python benchmarks/plain.py` shows that it learns; `epoch.py` measures `fit()` against it.
"""

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.datasets import Planetoid
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import spmm, to_torch_csr_tensor

ROOT = Path(__file__).parents[1] / "../shared/data"


@dataclass(frozen=True)
class Data:
    """Features, links, class ids, and the rows of each split."""

    x: Tensor
    links: Tensor
    y: Tensor
    splits: dict[str, Tensor]

    def csr(self) -> "Data":
        """The same with PyG's sparse form of the links, the faster way to write a PyG layer."""
        nodes = len(self.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            links = to_torch_csr_tensor(self.links.flip(0), size=(nodes, nodes))
        return Data(self.x, links, self.y, self.splits)


def cora(root: Path) -> Data:
    """Cora with its public split, from the raw files in ``<root>/planetoid/Cora/raw``."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Cora").mkdir()
        (Path(folder) / "Cora" / "raw").symlink_to((root / "planetoid/Cora/raw").resolve())
        with redirect_stderr(StringIO()):
            data = Planetoid(folder, "Cora")[0]
    masks = {"train": data.train_mask, "val": data.val_mask, "test": data.test_mask}
    rows = {name: mask.nonzero().squeeze(1) for name, mask in masks.items()}
    return Data(data.x, data.edge_index, data.y, rows)


class General(MessagePassing):
    """Sum of the neighbours through one linear map plus the node itself through another."""

    def __init__(self, dim_in: int, dim_out: int):
        super().__init__(aggr="add")
        self.neighbour = nn.Linear(dim_in, dim_out, bias=False)
        self.itself = nn.Linear(dim_in, dim_out, bias=False)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        return self.propagate(links, x=self.neighbour(x)) + self.itself(x)

    def message_and_aggregate(self, links: Tensor, x: Tensor) -> Tensor:
        return spmm(links, x, reduce="sum")


class Plain(nn.Module):
    """One layer before, ``layers`` of message passing, one after; each site its own PReLU."""

    def __init__(self, dim_in: int, dim: int, dim_out: int, layers: int):
        super().__init__()
        self.before = nn.Linear(dim_in, dim, bias=False)
        self.convs = nn.ModuleList(General(dim, dim) for _ in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(dim) for _ in range(layers + 1))
        self.acts = nn.ModuleList(nn.PReLU() for _ in range(layers + 1))
        self.after = nn.Linear(dim, dim_out)

    def forward(self, x: Tensor, links: Tensor) -> Tensor:
        x = self.acts[0](self.norms[0](self.before(x)))
        for conv, norm, act in zip(self.convs, self.norms[1:], self.acts[1:], strict=True):
            x = act(norm(conv(x, links)))
        return self.after(F.normalize(x, dim=-1))


def train(data: Data, layers: int, epochs: int, dim: int = 64) -> Iterator[dict[str, float]]:
    """An epoch: one step, then loss and accuracy of all splits from one evaluation forward."""
    model = Plain(data.x.size(1), dim, int(data.y.max()) + 1, layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    rows = data.splits["train"]
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(data.x, data.links)[rows], data.y[rows]).backward()
        optimizer.step()
        scheduler.step()
        yield evaluate(model, data)


@torch.no_grad()
def evaluate(model: Plain, data: Data) -> dict[str, float]:
    """``<split>_loss`` and ``<split>_accuracy``."""
    model.eval()
    out = model(data.x, data.links)
    scores = {}
    for split, rows in data.splits.items():
        logits, y = out[rows], data.y[rows]
        scores[f"{split}_loss"] = F.cross_entropy(logits, y).item()
        scores[f"{split}_accuracy"] = (logits.argmax(1) == y).float().mean().item()
    return scores


def main() -> None:
    """Print the test accuracy at the epoch of the best validation accuracy, over three seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--epochs", type=int, default=100)
    args = parser.parse_args()
    torch.set_num_threads(1)
    data = cora(args.root)
    for layers in (2, 4):
        tests = []
        for seed in range(3):
            torch.manual_seed(seed)
            history = list(train(data, layers, args.epochs))
            tests.append(max(history, key=lambda row: row["val_accuracy"])["test_accuracy"])
        print(f"Cora, {layers} MP layers: test accuracy", *(f"{test:.3f}" for test in tests))


if __name__ == "__main__":
    main()
