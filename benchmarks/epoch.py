"""What an epoch through `fit()` costs against the hand-written loop of `plain.py`, on Cora.

Both train the same model and evaluate all splits in one forward pass; turns of a few epochs
alternate, on one thread. Printed are ratios: median (lower .. upper quartile) over the rounds.
"""

import argparse
import tempfile
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import plain
import torch
from interleave import ratio, seconds

from gymspace.graph.task import load_source, source_spec, split_task
from gymspace.spec import parse
from gymspace.training.fit import fit
from gymspace.training.group import Group
from gymspace.training.trial import assemble


def ours(root: Path, layers: int, epochs: int) -> Iterator[object]:
    """The epochs of gymspace's default design on Cora."""
    with tempfile.TemporaryDirectory() as cache:
        config = {
            "dataset": "cora",
            "data": {"root": str(root), "cache": cache, "split": "own"},
            "model": {"layers_mp": layers},
            "train": {"epochs": epochs},
        }
        spec = parse(config)
        task = split_task(spec, load_source(source_spec(spec)))
    return fit(assemble(spec, task, Group()), epochs)


def compare(root: Path, layers: int, rounds: int, turn: int) -> dict[str, str]:
    """The ratios for ``layers`` message-passing layers."""
    epochs, data = (rounds + 1) * turn, plain.cora(root)
    loops = {
        "fit": ours(root, layers, epochs),
        "plain": plain.train(data, layers, epochs),
        "plain csr": plain.train(data.csr(), layers, epochs),
    }
    peers = {name: lambda loop=loop: deque(islice(loop, turn), 0) for name, loop in loops.items()}
    taken = seconds(peers, rounds)
    return {peer: ratio(taken, "fit", peer) for peer in ("plain", "plain csr")}


def main() -> None:
    """Print the ratios for 2 and 4 message-passing layers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=plain.ROOT, help="holds planetoid/Cora/raw")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--turn", type=int, default=4, help="epochs of a turn")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("epoch through fit() / epoch of the plain loop, median (quartiles)")
    for layers in (2, 4):
        against = compare(args.root, layers, args.rounds, args.turn)
        line = f"edge_index {against['plain']}, CSR {against['plain csr']}"
        print(f"  Cora, {layers} MP layers: {line}")


if __name__ == "__main__":
    main()
