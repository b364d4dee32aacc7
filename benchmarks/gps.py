"""What a GPS block costs against PyG's own `GPSConv`, and how linear attention's memory grows.

The blocks have the same parts (GIN, softmax attention of 4 heads, BatchNorm) and take turns at a
training step on the same batches, on one thread. Printed are ratios: median (lower .. upper
quartile) over the rounds. Memory is what one step of a block adds to the process at its height,
each in a process of its own.
"""

import argparse
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import torch
from interleave import ratio, seconds
from torch import Tensor, nn
from torch_geometric.nn import GINConv, GPSConv

from gymspace.graph.graph import Graph
from gymspace.models.gps import make_gps_block
from gymspace.models.known import Known
from gymspace.models.parts import Parts
from gymspace.spec import ModelSpec

WIDTH = 64
BATCHES = {
    "128 graphs of 8 to 38 nodes": [8 + (7 * i) % 31 for i in range(128)],
    "16 graphs of 50 to 250 nodes": [50 + (37 * i) % 201 for i in range(16)],
    "one graph of 2708 nodes": [2708],
}


def batch_of(sizes: list[int], degree: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges and graph of each node: random graphs of these sizes."""
    draws = torch.Generator().manual_seed(0)
    counts = torch.tensor(sizes)
    batch = torch.arange(len(sizes)).repeat_interleave(counts)
    start = (counts.cumsum(0) - counts)[batch]
    ends = (torch.rand(degree, batch.numel(), generator=draws) * counts[batch]).long() + start
    here = torch.arange(batch.numel()).expand(degree, -1)
    index = torch.stack([here.reshape(-1), ends.reshape(-1)])
    x = torch.randn(batch.numel(), WIDTH, generator=draws)
    return x, torch.cat([index, index.flip(0)], dim=1), batch


def block_of(attention: str) -> nn.Module:
    """A GPS block of the design."""
    spec = {"layer": "gin", "attention": attention, "act": "relu", "norm": "batch"}
    return make_gps_block(Parts(ModelSpec.model_validate(spec), Known()), WIDTH)


def ours(x: Tensor, index: Tensor, batch: Tensor) -> Callable[[], None]:
    """A training step of our block; the graph is made anew, as each batch's would be."""
    block = block_of("transformer")
    many = int(batch[-1]) > 0

    def step() -> None:
        graph = Graph.of(x, index, batch=batch if many else None)
        block(graph).x.square().mean().backward()

    return step


def pygs(x: Tensor, index: Tensor, batch: Tensor) -> Callable[[], None]:
    """A training step of PyG's block."""
    mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
    conv = GPSConv(WIDTH, GINConv(mlp), heads=4)

    def step() -> None:
        conv(x, index, batch).square().mean().backward()

    return step


def peak(attention: str, nodes: int) -> float:
    """MiB that a training step on one graph of ``nodes`` nodes adds to the process."""
    torch.set_num_threads(1)
    block = block_of(attention)
    block(Graph.of(*batch_of([16])[:2])).x.sum().backward()
    graph = Graph.of(*batch_of([nodes])[:2])
    Path("/proc/self/clear_refs").write_text("5")  # the height starts at what is held now
    before = resident("VmRSS")
    block(graph).x.square().mean().backward()
    return (resident("VmHWM") - before) / 1024


def resident(entry: str) -> int:
    """KiB that Linux says of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(entry))


def main() -> None:
    """Print the ratios, then the memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("training step of a GPS block / of PyG's GPSConv, median (quartiles)")
    for name, sizes in BATCHES.items():
        batch = batch_of(sizes)
        taken = seconds({"ours": ours(*batch), "pyg": pygs(*batch)}, args.rounds)
        print(f"  {name}: {ratio(taken, 'ours', 'pyg')}")
    print("memory of a training step, MiB (and per 1,000 nodes)")
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for attention in ("linear", "performer", "bigbird", "exphormer"):
            sizes = (1_000, 10_000, 100_000)
            found = [pool.apply(peak, (attention, nodes)) for nodes in sizes]
            cells = [f"{m:.0f} ({m / n * 1000:.1f})" for m, n in zip(found, sizes, strict=True)]
            print(f"  {attention}: 1k, 10k, 100k nodes: {', '.join(cells)}")


if __name__ == "__main__":
    main()
