"""From a sweep's folder to what the analyses take; the one module here that reads files."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gymspace.analysis.levels import text
from gymspace.analysis.study import Study, is_number, study
from gymspace.errors import ConfigError
from gymspace.records import RESULT
from gymspace.results.frames import frame
from gymspace.results.names import SPLITS
from gymspace.results.read import read_history
from gymspace.results.view import View, load_view

_BLOCK = "group"  # a choice or column of this name tells the groups of a controlled draw apart


def load_study(
    folder: Path,
    metric: str | Sequence[str] | None = None,
    *,
    split: str = "val",
    rule: str | None = None,
    keep: Sequence[str] = ("done",),
) -> Study:
    """Read a sweep's folder, or one that was imported.

    ``metric`` is a metric's name (then its ``split`` score at each trial's best epoch), a column of
    the trials' table, or several of them in order of preference; by default what chose the epochs
    of each task. ``keep`` are the statuses that count, ``rule`` is that of an imported folder.

    Raises:
        ConfigError: not a sweep's folder, no finished trial, no such metric, nothing varies.
    """
    return view_study(load_view(folder, rule), metric, split=split, keep=keep)


def view_study(
    view: View,
    metric: str | Sequence[str] | None = None,
    *,
    split: str = "val",
    keep: Sequence[str] = ("done",),
) -> Study:
    """As `load_study`, of a folder that is read already."""
    if not view.records:
        raise ConfigError("results", "has no finished trial yet", value=view.folder)
    trials = frame(view.trials)
    task = view.task_columns
    dimensions = [name for name in view.aliases if name not in (*task, _BLOCK)]
    if not dimensions:
        raise ConfigError("results", "only one design: nothing varies", value=view.folder)
    columns = [_column(trials, name, split) for name in _wanted(view, metric)]
    directions = {f"{part}_{name}": high for name, high in view.judges.values() for part in SPLITS}
    return study(
        trials,
        dimensions,
        columns,
        high=directions,
        aliases={name: view.aliases[name] for name in dimensions},
        tasks=_task_names(trials, task),
        keep=keep,
        probe=view.imported.about["probe"] if view.imported else None,
        blocks=[_BLOCK] if _BLOCK in trials else [],
        folds=_folds(trials),
    )


def load_curves(folder: Path, study: Study, column: str) -> pd.DataFrame:
    """Histories of a study's trials: one row per trial and evaluated epoch.

    Columns: ``task``, ``design``, ``seed``, ``fold``, ``trial``, ``epoch``, ``value``, which is
    that of ``column`` (``val_accuracy``, ``train_loss``, ``lr``, ``seconds``...).

    Raises:
        ConfigError: no history has such a column.
    """
    identity = ["task", "design", "seed", "fold", "trial"]
    known: set[str] = set()
    parts = []
    for row in study.frame[[name for name in identity if name in study.frame]].to_dict("records"):
        history = read_history(folder, str(row["trial"]))
        known |= history.keys()
        if column in history:
            parts.append(pd.DataFrame({"epoch": history["epoch"], "value": history[column]}))
            parts[-1] = parts[-1].assign(**row)
    if not parts:
        problem = "no history of a trial has it"
        raise ConfigError("column", problem, value=column, choices=sorted(known))
    return pd.concat(parts, ignore_index=True)[[*identity, "epoch", "value"]]


def finished(folder: Path, study: Study) -> pd.Series:
    """When each row of a study was finished: seconds, by the time stamp of its result file.

    A folder copied without its times has lost the order.
    """
    files = [folder / "trials" / str(trial) / RESULT for trial in study.frame["trial"]]
    return pd.Series([path.stat().st_mtime for path in files], study.frame.index)


def _wanted(view: View, metric: str | Sequence[str] | None) -> list[str]:
    if metric is not None:
        return [metric] if isinstance(metric, str) else list(metric)
    if view.imported:
        return list(view.imported.about["metrics"])
    chosen = dict.fromkeys(name for name, _ in view.judges.values())
    if not chosen:
        raise ConfigError("results", "no trial was measured", value=view.folder)
    return list(chosen)


def _column(trials: pd.DataFrame, name: str, split: str) -> str:
    if split not in SPLITS:
        raise ConfigError("split", "unknown choice", value=split, choices=SPLITS)
    scores = [column for column in trials if is_number(trials[column])]
    if f"{split}_{name}" in scores:
        return f"{split}_{name}"
    if name in scores:
        return name
    short = [column.removeprefix(f"{split}_") for column in scores if column.startswith(split)]
    raise ConfigError("metric", "no such metric", value=name, choices=[*short, "params", "seconds"])


def _task_names(trials: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    first = trials.drop_duplicates("task")
    cells = {row["task"]: [row[name] for name in columns] for row in first.to_dict("records")}
    return {
        task: " ".join(text(cell) for cell in values if not _empty(cell)) or task
        for task, values in cells.items()
    }


def _folds(trials: pd.DataFrame) -> dict[str, int]:
    """The k of each task with a k-fold split, which a trial's `split` states."""
    if "split" not in trials:
        return {}
    known = trials["split"].astype("string").str.extract(r"^kfold\(folds=(\d+)", expand=False)
    return {str(task): int(k) for task, k in known.groupby(trials["task"]).first().dropna().items()}


def _empty(cell) -> bool:
    return cell is None or cell is pd.NA or cell != cell
