"""The files of a folder, each read and checked by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from gymspace.graph.folder.columns import KEYS, Columns, Options, columns
from gymspace.graph.folder.labels import Labels, labels, masks
from gymspace.graph.folder.problems import Problems
from gymspace.graph.folder.reading import Table, UnreadableError, header, read

SUFFIXES = (".csv", ".parquet")
FEATURES = "features.npy"
KNOWN = tuple(f"{kind}{suffix}" for kind in KEYS for suffix in SUFFIXES)
CHUNK = 1 << 16  # rows of features looked at at once


@dataclass(frozen=True, eq=False)
class Sheet:
    """A file: its cells, what its columns are, and what is to be learnt of its rows."""

    table: Table
    columns: Columns
    labels: Labels | None
    masks: Mapping[str, np.ndarray]

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.table.path


@dataclass(frozen=True, eq=False)
class Sheets:
    """The files of a folder; ``features`` [nodes, F] are those of `features.npy`."""

    edges: Sheet
    nodes: Sheet | None = None
    graphs: Sheet | None = None
    features: np.ndarray | None = None


def read_sheets(folder: Path, options: Options, problems: Problems) -> Sheets | None:
    """What is in ``folder``; None where some file is missing or cannot be used at all."""
    paths = {kind: _find(folder, kind, problems) for kind in KEYS}
    found = {kind: _sheet(p, kind, options, problems) if p else None for kind, p in paths.items()}
    features = _features(folder / FEATURES, found["nodes"], problems)
    lost = any(path and not found[kind] for kind, path in paths.items())
    if not lost:
        _check_names(folder, [sheet for sheet in found.values() if sheet], options, problems)
    edges = found["edges"]
    if lost or edges is None:
        return None
    return Sheets(edges, found["nodes"], found["graphs"], features)


def _find(folder: Path, kind: str, problems: Problems) -> Path | None:
    """The file of one kind; what is named almost like it is told rather than overlooked."""
    paths = [path for suffix in SUFFIXES if (path := folder / f"{kind}{suffix}").is_file()]
    if len(paths) == 2:
        problems.add(paths[0], f"stands beside {paths[1].name}: leave one of them out")
    if paths:
        return paths[0]
    others = [path for path in sorted(folder.iterdir()) if path.name not in KNOWN]
    near = [path for path in others if get_close_matches(path.stem.lower(), [kind], cutoff=0.85)]
    for path in near[:1]:
        problems.add(path, f"is not read: did you mean {kind}.csv or {kind}.parquet?")
    if kind == "edges" and not near:
        there = ", ".join(path.name for path in others[:5])
        have = f", but {there}" if there else ""
        problems.add(folder, f"has no edges.csv or edges.parquet{have}")
    return None


def _sheet(path: Path, kind: str, options: Options, problems: Problems) -> Sheet | None:
    try:
        found, wrong = columns(header(path), kind, options)
        for text in wrong:
            problems.add(path, text)
        if wrong:
            return None
        table = read(path, found.text, found.features if kind != "graphs" else (), problems)
    except UnreadableError as error:
        problems.add(path, str(error))
        return None
    if not table.rows and kind != "edges":
        if not len(table.broken):
            problems.add(path, "has no rows")
        return None
    known = labels(table, found.labels, options.task, problems) if found.labels else None
    return Sheet(table, found, known, masks(table, found.splits, problems))


def _check_names(folder: Path, sheets: list[Sheet], options: Options, problems: Problems) -> None:
    """Tell names that the user gave and no file has, and labels in more than one file."""
    there = [name for sheet in sheets for name in sheet.columns.all]
    for key, given in (("label", options.label or ()), ("skip", options.skip)):
        for name in given:
            if name not in there:
                close = get_close_matches(name, there, n=1)
                hint = f"; did you mean {close[0]}?" if close else ""
                problems.add(folder, f"no file has a column '{name}' (dataset.{key}){hint}")
    labelled = [sheet for sheet in sheets if sheet.labels]
    if len(labelled) > 1:
        one, other = (f"'{s.columns.labels[0]}' of {s.path.name}" for s in labelled[:2])
        problems.add(
            folder, f"has labels in two files, {one} and {other}: dataset.skip leaves one out"
        )


def mapped(path: Path) -> np.ndarray:
    """An array whose pages are loaded as they are used; what is written to it stays in memory."""
    return np.load(path, mmap_mode="c", allow_pickle=False)


def _features(path: Path, nodes: Sheet | None, problems: Problems) -> np.ndarray | None:
    """The features beside the tables, mapped and not read."""
    if not path.is_file():
        return None
    try:
        found = mapped(path)
    except (ValueError, EOFError, OSError) as error:
        problems.add(path, f"cannot be read: {error}")
        return None
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        problems.add(path, f"is {found.dtype} {list(found.shape)}, not numbers [nodes, width]")
        return None
    if nodes is not None and len(found) != nodes.table.rows:
        problems.add(path, f"has {len(found)} rows, and {nodes.path.name} {nodes.table.rows}")
    if nodes is not None and nodes.columns.features:
        name = nodes.columns.features[0]
        problems.add(path, f"stands beside features in {nodes.path.name} ('{name}'): skip one")
    for start in range(0, len(found), CHUNK):
        bad = np.flatnonzero(~np.isfinite(found[start : start + CHUNK]).all(1))
        for row in bad:
            problems.add(path, "holds nan or infinity", start + int(row))
    return found
