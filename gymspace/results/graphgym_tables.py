"""GraphGym's `agg/*.csv`: where they are, and what their columns mean."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gymspace.errors import ConfigError
from gymspace.results import names
from gymspace.results.agg import RULES
from gymspace.results.tables import read_cells

Tables = Mapping[tuple[str, str], pd.DataFrame]  # by split and suffix: "", "_best", "_bestepoch"

# GraphGym's aliases of what makes a task: form, name, level, transductive, features, labels.
_TASK = ("format", "dataset", "task", "trans", "feature", "label", "split")
_RESULTS = ("epoch", "loss", "params", "time_iter")
_PREFERRED = ("_best", "", "_bestepoch")  # each repeat at its own best epoch, as in our tables


@dataclass(frozen=True)
class Layout:
    """What the columns of GraphGym's tables mean.

    ``own`` are those left of the results; of these ``probe`` says which dimension a row was drawn
    to vary, ``task`` make the task, ``dimensions`` the design. ``swept_epoch``: the column `epoch`
    of the results stands for the swept number of epochs as well.
    """

    own: tuple[str, ...]
    probe: str | None
    task: tuple[str, ...]
    dimensions: tuple[str, ...]
    metrics: tuple[str, ...]
    swept_epoch: bool
    rules: tuple[str, ...]

    @property
    def columns(self) -> dict[str, str]:
        """GraphGym's names of choices -> columns that no result of ours is named like."""
        return names.columns((*self.task, *self.dimensions), self.metrics)


def files_of(source: Path) -> dict[tuple[str, str], Path]:
    """The tables in a folder, in its `agg/`, or the one table that ``source`` is.

    Raises:
        ConfigError: there are none.
    """
    known = {f"{split}{rule}.csv": (split, rule) for rule in RULES for split in names.SPLITS}
    if not source.exists():
        raise ConfigError("import", "there is no such file or folder", value=source)
    folder = source / "agg" if (source / "agg").is_dir() else source
    paths = [source] if source.is_file() else [folder / name for name in known]
    found = {known[path.name]: path for path in paths if path.name in known and path.is_file()}
    if not found:
        raise ConfigError(
            "import", "is or has none of GraphGym's tables", value=source, choices=known
        )
    return found


def read(path: Path) -> pd.DataFrame:
    """One table as text.

    Raises:
        ConfigError: it is not readable, or not one of GraphGym's.
    """
    try:
        header, rows = read_cells(path)
    except (ValueError, OSError, csv.Error) as error:
        raise ConfigError("import", f"is not a readable table: {error}", value=path) from error
    table = pd.DataFrame(rows, columns=header, dtype=str)
    lacking = [name for name in ("epoch", "loss") if name not in table]
    if lacking or table.columns[0] == "epoch" or table.empty:
        problem = f"is not one of GraphGym's tables: no {lacking[0] if lacking else 'design'}"
        raise ConfigError("import", problem, value=path, choices=table.columns)
    return table


def layout_of(tables: Tables, task: Sequence[str]) -> Layout:
    """What the columns of ``tables`` mean; ``task`` are those that make a task, if known.

    Raises:
        ConfigError: the tables do not belong together, or there is no such column.
    """
    first = next(iter(tables.values()))
    own = list(first.columns[: list(first.columns).index("epoch")])
    for (split, rule), table in tables.items():
        if list(table.columns[: len(own) + 1]) != [*own, "epoch"]:
            problem = "has other design columns than the files beside it"
            raise ConfigError("import", problem, value=f"{split}{rule}.csv", choices=own)
    probe = next((name for name in own if set(first[name]) <= {*own, "epoch"} - {name}), None)
    choices = [name for name in own if name != probe]
    for name in task:
        if name not in choices:
            raise ConfigError("--task", "no such column", value=name, choices=choices)
    parts = list(task) or [name for name in choices if name in _TASK]
    results = [name for table in tables.values() for name in table.columns[len(own) :]]
    metrics = [n for n in results if n not in _RESULTS and not n.endswith("_std")]
    swept = _epoch_is_swept(tables, own, probe)
    there = [rule for rule in _PREFERRED if any(rule == known for _, known in tables)]
    return Layout(
        own=tuple(own),
        probe=probe,
        task=tuple(parts),
        dimensions=(*(n for n in choices if n not in parts), *(["epoch"] if swept else [])),
        metrics=tuple(dict.fromkeys(metrics)),
        swept_epoch=swept,
        rules=tuple(rule for rule in there if not (swept and rule)),
    )


def _epoch_is_swept(tables: Tables, own: Sequence[str], probe: str | None) -> bool:
    """Whether the last epochs tell designs apart that are equal in all other columns."""
    for (_, rule), table in tables.items():
        if not rule:
            named = probe is not None and "epoch" in set(table[probe])
            return named or (table.duplicated(list(own)) & ~table.duplicated([*own, "epoch"])).any()
    return False
