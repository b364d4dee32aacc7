"""A small citation graph in Planetoid's raw format, which PyG's own class reads."""

import pickle
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

CLASSES, TRAIN, VAL, TEST, FEATURES = 3, 30, 500, 120, 24
NODES = TRAIN + VAL + TEST
ISOLATED = 7


def write(folder: Path, name: str = "Cora", seed: int = 0) -> Path:
    """Write ``<folder>/<name>/raw/ind.<name>.*`` and return that raw folder.

    PyG always takes the 500 nodes after the training nodes for validation. The lists of neighbours
    have a node of its own kind of each: isolated, with a self loop, with a neighbour named twice.
    """
    draws = np.random.default_rng(seed)
    labels = np.arange(NODES) % CLASSES
    x = (draws.random((NODES, FEATURES)) < 0.05).astype(np.float32)
    x[np.arange(NODES), labels] = 1
    y = np.eye(CLASSES, dtype=np.int32)[labels]
    known, test = NODES - TEST, np.arange(NODES - TEST, NODES)
    parts = {
        "x": csr_matrix(x[:TRAIN]),
        "tx": csr_matrix(x[test]),
        "allx": csr_matrix(x[:known]),
        "y": y[:TRAIN],
        "ty": y[test],
        "ally": y[:known],
        "graph": _neighbours(labels, draws),
    }
    raw = folder / name / "raw"
    raw.mkdir(parents=True)
    for part, value in parts.items():
        (raw / f"ind.{name.lower()}.{part}").write_bytes(pickle.dumps(value, protocol=2))
    (raw / f"ind.{name.lower()}.test.index").write_text("\n".join(map(str, test)))
    return raw


def _neighbours(labels: np.ndarray, draws: np.random.Generator) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = {node: [] for node in range(NODES)}
    for node in range(NODES):
        for other in draws.choice(np.flatnonzero(labels == labels[node]), 2).tolist():
            if node != other and ISOLATED not in (node, other):
                neighbours[node].append(other)
                neighbours[other].append(node)
    neighbours[0] += [0, neighbours[0][0]]
    return neighbours
