"""Raw files in the layouts that PyG's classes read, with small graphs that are not the real ones.

Each part of a split has rings of nodes; ``counts`` says how many.
"""

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import networkx as nx
import numpy as np
import torch
from torch import Tensor

COUNTS: Mapping[str, int] = MappingProxyType({"train": 6, "val": 3, "test": 2})


def ring(nodes: int) -> Tensor:
    """Edges both ways around, [2, 2 * nodes]."""
    here = torch.arange(nodes)
    there = (here + 1) % nodes
    return torch.stack([torch.cat([here, there]), torch.cat([there, here])])


def sizes(part: str) -> list[int]:
    """Nodes of each graph of a part."""
    return [3 + n % 3 for n in range(COUNTS[part])]


def zinc(root: Path) -> None:
    """Molecules as dense matrices of bonds; the index leaves out the last of each part."""
    folder = _folder(root, "zinc/raw")
    for part, count in COUNTS.items():
        graphs = []
        for size in sizes(part):
            bonds = torch.zeros(size, size)
            bonds[tuple(ring(size))] = 1
            atoms, value = torch.arange(size), torch.tensor([0.1 * size])
            graphs.append(
                {"atom_type": atoms, "bond_type": bonds, "logP_SA_cycle_normalized": value}
            )
        (folder / f"{part}.pickle").write_bytes(pickle.dumps(graphs))
        (folder / f"{part}.index").write_text(",".join(map(str, range(count - 1))) + "\n")


def peptides_func(root: Path) -> None:
    """Whole-number features, ten labels for each graph."""
    folder = _folder(root, "lrgb/peptides-func/raw")
    for part in COUNTS:
        graphs = []
        for size in sizes(part):
            x, attr = torch.ones(size, 9).long(), torch.ones(2 * size, 3).long()
            graphs.append((x, attr, ring(size), torch.arange(10.0).gt(size).float()[None]))
        torch.save(graphs, folder / f"{part}.pt")


def pascalvoc_sp(root: Path) -> None:
    """Superpixels, each with a class."""
    folder = _folder(root, "lrgb/pascalvoc-sp/raw")
    for part in COUNTS:
        graphs = [
            (torch.ones(n, 14), torch.ones(2 * n, 2), ring(n), list(range(n))) for n in sizes(part)
        ]
        (folder / f"{part}.pickle").write_bytes(pickle.dumps(graphs))


def mnist(root: Path) -> None:
    """All parts in one file, graphs as dicts."""
    folder = _folder(root, "gnn_benchmark/MNIST/raw")
    parts = [
        [
            {
                "x": torch.ones(n, 1),
                "pos": torch.ones(n, 2),
                "edge_index": ring(n),
                "edge_attr": torch.ones(2 * n, 1),
                "y": torch.tensor([n - 3]),
            }
            for n in sizes(part)
        ]
        for part in COUNTS
    ]
    torch.save(parts, folder / "MNIST_v2.pt")


def malnet_tiny(root: Path) -> None:
    """A file of edges for each graph, in the folder of its class."""
    folder = _folder(root, "malnet_tiny/raw")
    for part in COUNTS:
        names = []
        for number, size in enumerate(sizes(part)):
            names.append(f"kind{size}/{part}{number}")
            lines = ["# head"] * 5 + [f"{a} {b}" for a, b in ring(size).T.tolist()]
            path = folder / "malnet-graphs-tiny" / f"{names[-1]}.edgelist"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
        listed = _folder(folder, "split_info_tiny/type") / f"{part}.txt"
        listed.write_text("\n".join(names) + "\n")


def ppi(root: Path) -> None:
    """A part's graphs in one file, with 121 labels for each node."""
    folder = _folder(root, "ppi/raw")
    for part, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        rings = [nx.cycle_graph(size) for size in sizes(part)]
        whole = nx.disjoint_union_all(rings)
        owner = np.repeat(np.arange(len(rings)), sizes(part))
        labels = np.arange(121)[None] % 2 == owner[:, None] % 2
        content = json.dumps(nx.node_link_data(whole.to_directed(), edges="links"))
        (folder / f"{name}_graph.json").write_text(content)
        np.save(folder / f"{name}_feats.npy", np.ones((len(owner), 50)))
        np.save(folder / f"{name}_labels.npy", labels)
        np.save(folder / f"{name}_graph_id.npy", owner + 1)


def cornell(root: Path) -> None:
    """A table of nodes, one of edges and ten splits."""
    folder = _folder(root, "webkb/cornell/raw")
    nodes, shares = 20, np.arange(20) % 5
    lines = [f"{n}\t{n % 2},1,0\t{n % 5}" for n in range(nodes)]
    (folder / "out1_node_feature_label.txt").write_text("\n".join(["head", *lines]) + "\n")
    lines = [f"{a}\t{b}" for a, b in ring(nodes).T.tolist()]
    (folder / "out1_graph_edges.txt").write_text("\n".join(["head", *lines]) + "\n")
    for fold in range(10):
        part = np.roll(shares, fold)
        masks = {"train_mask": part < 3, "val_mask": part == 3, "test_mask": part == 4}
        np.savez(folder / f"cornell_split_0.6_0.2_{fold}.npz", **masks)


def minesweeper(root: Path) -> None:
    """A ring whose nodes have two classes, and ten splits."""
    nodes, shares = 30, np.arange(30) % 5
    parts = [np.roll(shares, fold) for fold in range(10)]
    masks = {
        "train_masks": np.stack([part < 3 for part in parts]),
        "val_masks": np.stack([part == 3 for part in parts]),
        "test_masks": np.stack([part == 4 for part in parts]),
    }
    np.savez(
        _folder(root, "heterophilous/minesweeper/raw") / "minesweeper.npz",
        node_features=np.eye(nodes, 7, dtype=np.float32),
        node_labels=np.arange(nodes) // 3 % 2,
        edges=ring(nodes).T[:nodes].numpy(),
        **masks,
    )


def esol(root: Path) -> None:
    """Alkanes and alcohols, one solubility each, in the columns that PyG reads."""
    smiles = ["C" * size + end for size in range(1, 16) for end in ("", "O")]
    lines = [f"x,0,0,0,0,0,0,0,{len(text) / 10},{text}" for text in smiles]
    folder = _folder(root, "moleculenet/esol/raw")
    (folder / "delaney-processed.csv").write_text("\n".join(["head", *lines]) + "\n")


PARTED: Mapping[str, Callable[[Path], None]] = MappingProxyType(
    {"zinc": zinc, "peptides_func": peptides_func, "pascalvoc_sp": pascalvoc_sp}
    | {"mnist": mnist, "malnet_tiny": malnet_tiny, "ppi": ppi}
)


def _folder(root: Path, path: str) -> Path:
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    return folder
