"""All graphs of a folder held as one, cut into `Data`, and kept on disk."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.folder.columns import Options
from gymspace.graph.folder.sheets import FEATURES, KNOWN, mapped

OF_EDGES = ("edge_index", "edge_attr", "edge_weight", "edge_time")
FORM = 1  # of what is kept; a new one where it changes, or what is read of a folder


@dataclass(frozen=True, eq=False)
class Whole:
    """One graph, or many as one in the order of the graphs: ``fields`` of nodes and edges.

    Of many, ``nodes`` and ``edges`` [G + 1] say where each begins, ``of_graphs`` what each has.
    ``classes`` are names of class ids.
    """

    fields: Mapping[str, Tensor]
    count: int
    classes: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    edges: tuple[int, ...] = ()
    of_graphs: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def data(self) -> Data:
        """All as one graph."""
        return self._named(Data(num_nodes=self.count, **self.fields))

    def graphs(self) -> list[Data]:
        """The graphs one by one; what they have is not copied."""
        return [self._graph(n) for n in range(len(self.nodes) - 1)]

    def _graph(self, n: int) -> Data:
        here, there = slice(*self.nodes[n : n + 2]), slice(*self.edges[n : n + 2])
        index = self.fields["edge_index"][:, there] - here.start
        data = Data(edge_index=index, num_nodes=here.stop - here.start)
        for name, value in self.fields.items():
            if name != "edge_index":
                data[name] = value[there if name in OF_EDGES else here]
        data.update({name: value[n : n + 1] for name, value in self.of_graphs.items()})
        return self._named(data)

    def _named(self, data: Data) -> Data:
        if self.classes:
            data.classes = self.classes
        return data


def ordered(
    fields: Mapping[str, Tensor], graph_of_node: np.ndarray, graph_of_edge: np.ndarray, graphs: int
) -> tuple[dict[str, Tensor], tuple[int, ...], tuple[int, ...]]:
    """``fields`` in the order of the graphs, and where each begins among nodes and edges."""
    nodes, node_starts = _grouped(graph_of_node, graphs)
    edges, edge_starts = _grouped(graph_of_edge, graphs)
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(len(nodes))
    moved = {n: v[edges if n in OF_EDGES else nodes] for n, v in fields.items() if n != OF_EDGES[0]}
    return {"edge_index": place[fields["edge_index"][:, edges]], **moved}, node_starts, edge_starts


def _grouped(owner: np.ndarray, graphs: int) -> tuple[Tensor, tuple[int, ...]]:
    """Rows in the order of their graphs, and where each graph begins [G + 1]."""
    starts = np.concatenate([[0], np.bincount(owner, minlength=graphs).cumsum()])
    return torch.from_numpy(np.argsort(owner, kind="stable")), tuple(starts.tolist())


def kept(folder: Path, options: Options, cache: Path, make: Callable[[], Whole]) -> Whole:
    """What ``make`` makes of ``folder``, from the cache as long as none of its files changes.

    A second start maps it into memory. One file is kept for each folder and options, and replaced
    in one step. Features that are mapped from the folder itself are not kept again.

    Raises:
        ConfigError: the cache cannot be written.
    """
    place = cache / "folder" / f"{folder.name}-{_digest(str(folder), repr(options))}.pt"
    state = _state(folder)
    with suppress(OSError, RuntimeError, UnpicklingError):  # none yet, or cut off: made anew
        found = torch.load(place, mmap=True, weights_only=True)
        if found.pop("state") == state:
            if found.pop("mapped"):
                found["fields"]["x"] = torch.from_numpy(mapped(folder / FEATURES))
            return Whole(**found)
    whole = make()
    beside = (folder / FEATURES).exists() and not whole.nodes
    fields = {name: value for name, value in whole.fields.items() if not beside or name != "x"}
    _write(place, {**vars(whole), "fields": fields, "state": state, "mapped": beside})
    return whole


def _write(place: Path, content: dict[str, object]) -> None:
    """Write under another name first, so that nobody sees half a file."""
    part = place.with_name(f".{place.name}-{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        torch.save(content, part)
        part.replace(place)
    except (OSError, RuntimeError) as error:
        with suppress(OSError):
            part.unlink()
        raise ConfigError("data.cache", f"cannot write {place}: {error}") from error


def _state(folder: Path) -> str:
    """Changes whenever a file of the folder does."""
    files = [path for name in (*KNOWN, FEATURES) if (path := folder / name).exists()]
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return _digest(FORM, states)


def _digest(*content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
