"""Datasets: embedded digits, generated graphs, and any class of PyG by name."""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch_geometric.datasets
from sklearn.datasets import load_digits
from torch_geometric.data import Data, Dataset

from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole
from gymspace.graph.files import Source, load
from gymspace.graph.generated import scale_free, small_world
from gymspace.graph.parts import parted
from gymspace.graph.structures import scale_frees, small_worlds

__all__ = ["digits", "pyg", "scale_free", "scale_frees", "small_world", "small_worlds"]

# What this module sets itself, or what a config cannot say.
_RESERVED = ("root", "name", "transform", "pre_transform", "pre_filter", "log", "force_reload")


def digits(k: int = 10) -> Data:
    """Scikit-learn's 1,797 images of digits, each linked with its ``k`` nearest, in 10 classes.

    An edge stands if either end counts the other among its ``k`` nearest by Euclidean distance
    between pixels; of equally near images the first in the file counts. Distances are whole
    numbers, so the graph is the same on every machine. Comes with scikit-learn: no download.
    Shapes: x float32 [1797, 64] in 0..1, y int64 [1797], edge_index both ways, sorted.
    """
    pixels, y = load_digits(return_X_y=True)
    whole("dataset.k", k, 1, len(y) - 1)
    pixels = pixels.astype(np.int64)
    norms = (pixels**2).sum(1)
    distance = norms[:, None] + norms[None, :] - 2 * pixels @ pixels.T
    np.fill_diagonal(distance, distance.max() + 1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
    linked = np.zeros(distance.shape, dtype=bool)
    np.put_along_axis(linked, nearest, True, axis=1)
    return Data(
        x=torch.from_numpy(pixels).float() / 16,
        edge_index=torch.from_numpy(np.stack(np.nonzero(linked | linked.T))),
        y=torch.from_numpy(y).long(),
    )


def pyg(
    root: Path,
    cache: Path,
    cls: str,
    subset: str | bool | None = None,
    folder: str | None = None,
    parts: str | None = None,
    **args: Any,
) -> Data | Dataset | list[Data]:
    """The graph or graphs of a PyG dataset class, as `torch_geometric.datasets` has them.

    Args:
        root: raw files are in ``<root>/<folder>``, where the class looks for them; those that are
            missing are downloaded to there. Otherwise nothing is written below it.
        cache: processed files go to ``<cache>/<folder>``.
        cls: name of the class, such as ``Planetoid``.
        subset: the class's argument ``name``, such as ``Cora``, or ``subset``.
        folder: ``cls`` in snake case by default.
        parts: the class's argument that takes "train", "val" or "test", where it gives one part at
            a time; then all three are put together, each with a mask that data.split=own reads.
        args: further arguments of the class. Classes that draw at random always draw the same.

    Some raw formats (Planetoid's) are pickles: load only files that you trust.

    Raises:
        ConfigError: unknown class or argument, raw files missing and not to be had, no graphs of
            one type of nodes.
    """
    kind = _pyg_class(cls)
    below = folder or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls).lower()
    if Path(below).is_absolute() or ".." in Path(below).parts:
        raise ConfigError("dataset.folder", "must be a folder below data.root", value=folder)
    arguments = _arguments(kind, subset, parts, args)
    where = Path(root).resolve() / below, Path(cache).resolve() / below
    made = load(Source(kind, arguments, *where, parts))
    for dataset in made:
        _check(cls, dataset)
    if parts is not None:
        return parted(made)
    return made[0] if len(made[0]) > 1 else made[0][0]


def _pyg_class(name: str) -> type[Dataset]:
    known = torch_geometric.datasets.__all__
    if name not in known:
        raise ConfigError("dataset.cls", "no such class in PyG", value=name, choices=known)
    return getattr(torch_geometric.datasets, name)


def _arguments(
    kind: type[Dataset], subset: str | bool | None, parts: str | None, args: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of the class, each of which it takes; ``parts`` is left to the three parts."""
    takes = inspect.signature(kind.__init__).parameters
    free = [name for name in takes if name not in ("self", "subset", *_RESERVED)]
    if parts is not None and parts in args:
        problem = f"{kind.__name__} gives all its parts; dataset.parts=null takes this one alone"
        raise ConfigError(f"dataset.{parts}", problem, value=args[parts])
    asked = [(name, value, name) for name, value in args.items()]
    for key, value, name in [*asked, *([] if parts is None else [("parts", parts, parts)])]:
        if name not in free:
            problem = f"{kind.__name__} takes no such argument"
            raise ConfigError(f"dataset.{key}", problem, value=value, choices=free, near=name)
    return {**_subset(kind, takes, subset), **args}


def _subset(
    kind: type[Dataset], takes: Mapping[str, inspect.Parameter], subset: str | bool | None
) -> dict[str, Any]:
    """The argument that says which of the class's datasets is meant."""
    cls, place = kind.__name__, "name" if "name" in takes else "subset"
    if subset is None:
        if place in takes and takes[place].default is inspect.Parameter.empty:
            raise ConfigError("dataset.subset", f"{cls} needs a subset, its argument '{place}'")
        return {}
    if place not in takes:
        raise ConfigError("dataset.subset", f"{cls} has no subsets", value=subset)
    known = [str(name) for name in getattr(kind, "names", ())]
    if known and str(subset).lower() not in map(str.lower, known):
        raise ConfigError(
            "dataset.subset", f"{cls} has no such subset", value=subset, choices=known
        )
    return {place: subset}


def _check(cls: str, dataset: Dataset) -> None:
    """Refuse what is no graph, and no graphs, of one type of nodes."""
    if not len(dataset):
        raise ConfigError("dataset", f"{cls} has no graphs", value=cls)
    if not isinstance(dataset[0], Data):
        raise ConfigError("dataset", f"{cls} is no graph with one type of nodes", value=cls)
