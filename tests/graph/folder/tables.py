"""Folders of tables, written from frames or from text."""

from pathlib import Path

import numpy as np
import pandas as pd


def write(folder: Path, kind: str = ".csv", **frames: pd.DataFrame) -> Path:
    """Frames as files of one kind: `write(folder, nodes=..., edges=...)`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        path = folder / f"{name}{kind}"
        if kind == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, index=False)
    return folder


def texts(folder: Path, **files: str) -> Path:
    """CSV files from their text."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def one(seed: int, nodes: int = 9, edges: int = 20) -> dict[str, pd.DataFrame]:
    """A graph with everything that nodes and edges may have; ids are words."""
    draw = np.random.default_rng(seed)
    ids = np.array([f"n{n}" for n in draw.permutation(nodes)])
    kinds = pd.Series(draw.choice(["cat", "dog", "owl"], nodes))
    nodes_frame = pd.DataFrame(
        {
            "id": ids,
            "age": draw.integers(0, 90, nodes),
            "size": draw.normal(size=nodes),
            "tall": draw.random(nodes) < 0.5,
            "y": kinds.where(draw.random(nodes) < 0.8),
            "split": draw.choice(["train", "val", "test", None], nodes),
        }
    )
    nodes_frame.loc[0, "y"] = "cat"
    edges_frame = pd.DataFrame(
        {
            "source": draw.choice(ids, edges),
            "target": draw.choice(ids, edges),
            "weight": draw.random(edges),
            "time": draw.integers(0, 2_000_000_000, edges),
            "strength": draw.normal(size=edges) * 1e-7,
        }
    )
    return {"nodes": nodes_frame, "edges": edges_frame}


def many(seed: int, graphs: int = 4, within: bool = True) -> dict[str, pd.DataFrame]:
    """Graphs in mixed order; ids count ``within`` a graph, or are those of all nodes."""
    draw = np.random.default_rng(seed)
    names = [f"g{n}" for n in range(graphs)]
    sizes = draw.integers(1, 6, graphs)
    owner = np.repeat(np.arange(graphs), sizes)
    number = (
        np.concatenate([np.arange(size) for size in sizes]) if within else np.arange(len(owner))
    )
    first = draw.integers(0, len(owner), 3 * len(owner))
    second = draw.integers(0, len(owner), 3 * len(owner))
    same = owner[first] == owner[second]
    first, second = first[same], second[same]
    edges = pd.DataFrame({"source": number[first], "target": number[second]})
    edges["length"] = draw.normal(size=len(edges))
    if within:
        edges["graph"] = [names[graph] for graph in owner[first]]
    nodes = pd.DataFrame({"id": number, "graph": [names[graph] for graph in owner]})
    nodes["size"] = draw.normal(size=len(nodes))
    nodes = nodes.sample(frac=1, random_state=seed)
    rows = pd.DataFrame({"graph": names, "y": draw.normal(size=graphs)})
    rows["split"] = draw.choice(["train", "val", "test"], graphs)
    return {"nodes": nodes, "edges": edges, "graphs": rows.sample(frac=1, random_state=seed)}
