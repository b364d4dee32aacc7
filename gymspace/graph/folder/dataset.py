"""The dataset `folder`: what the tables of a folder say, as PyG's `Data`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.folder.assembled import Learnt, assemble, edge_data, learnt
from gymspace.graph.folder.columns import Options
from gymspace.graph.folder.linked import Linked, link
from gymspace.graph.folder.problems import Problems
from gymspace.graph.folder.sheets import Sheets, read_sheets
from gymspace.graph.folder.whole import Whole, kept

TASKS = ("classification", "regression")


@dataclass(frozen=True, eq=False)
class Found:
    """A folder that was read: what is wrong with it, its files, and what they say.

    ``whole`` holds all graphs together, and is there if there are no problems.
    """

    problems: Problems
    sheets: Sheets | None = None
    linked: Linked | None = None
    learnt: Learnt | None = None
    whole: Whole | None = None


def folder(
    path: str,
    label: str | Sequence[str] | None = None,
    task: str | None = None,
    skip: str | Sequence[str] = (),
    cache: Path | None = None,
) -> Data | list[Data]:
    """A graph, or many, from `edges`, `nodes` and `graphs` as `.csv` or `.parquet` in a folder.

    Args:
        path: the folder; a relative one starts where the command is given.
        label: the columns to be learnt; null: ``y``, ``label``, or all that begin with ``y_`` or
            ``label_``.
        task: ``classification`` or ``regression``; null: whole numbers and names are classes.
        skip: columns that are not read.
        cache: where it is kept in a form that is mapped into memory until a file changes.

    Raises:
        ConfigError: the first problem of the folder by file and line, and how many others there
            are; `python -m gymspace.graph.folder` lists them.
    """
    options = _options(path, label, task, skip)

    def read() -> Whole:
        found = read_folder(path, label, task, skip)
        if found.whole is None:
            first, more = next(iter(found.problems)), len(found.problems) - 1
            others = f" (and {more} more: python -m gymspace.graph.folder {path})" if more else ""
            raise ConfigError("dataset.path", f"{first}{others}", value=path)
        return found.whole

    whole = kept(Path(path).resolve(), options, cache, read) if cache else read()
    return whole.graphs() if whole.nodes else whole.data


def read_folder(
    path: str,
    label: str | Sequence[str] | None = None,
    task: str | None = None,
    skip: str | Sequence[str] = (),
) -> Found:
    """Everything that is in a folder, and all that is wrong with it.

    Raises:
        ConfigError: there is no such folder or task.
    """
    options = _options(path, label, task, skip)
    problems = Problems()
    sheets = read_sheets(Path(path), options, problems)
    if sheets is None:
        return Found(problems)
    linked = link(sheets, problems)
    if linked is None:
        return Found(problems, sheets)
    edges = edge_data(sheets.edges, problems)
    rows = learnt(sheets, linked, problems)
    whole = None if problems else assemble(sheets, linked, edges, rows)
    return Found(problems, sheets, linked, rows, whole)


def _options(
    path: str,
    label: str | Sequence[str] | None,
    task: str | None,
    skip: str | Sequence[str],
) -> Options:
    if not Path(path).is_dir():
        raise ConfigError("dataset.path", "there is no such folder", value=path)
    if task not in (None, *TASKS):
        raise ConfigError("dataset.task", "unknown choice", value=task, choices=TASKS)
    return Options(None if label is None else _words(label), _words(skip), task)


def _words(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
