"""Trials read from a sweep's folder; what is not a finished trial is left out, never guessed."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.records import RESULT, SPEC, read_json
from gymspace.results.names import STATUSES

Record = dict[str, Any]
_RESULT_KEYS = ("trial", "design", "task", "seed", "status")


def read_trials(folder: Path) -> list[Record]:
    """Read every finished trial of a sweep, sorted by trial id.

    A record is the trial's `result.json` with ``choices`` and ``spec`` of its `spec.json`. Folders
    without both files whole, or whose name is not their trial's id (copies), are passed over.

    Raises:
        ConfigError: ``folder`` is not the folder of a sweep.
    """
    return sorted(filter(None, map(_record, trial_folders(folder))), key=lambda r: r["trial"])


def trial_folders(folder: Path) -> list[Path]:
    """Folders below `trials/`, finished or not.

    Raises:
        ConfigError: ``folder`` is not the folder of a sweep.
    """
    trials = folder / "trials"
    if not folder.is_dir():
        raise ConfigError("results", "there is no such folder", value=folder)
    if not trials.is_dir():
        raise ConfigError("results", "is not a sweep's folder: it has no trials/", value=folder)
    return [path for path in trials.iterdir() if path.is_dir() and not path.name.startswith(".")]


def read_sweep(folder: Path) -> dict[str, Any]:
    """Read `sweep.json`; empty for a folder without one.

    Raises:
        ConfigError: the file is there and is not readable.
    """
    path = folder / "sweep.json"
    if not path.exists():
        return {}
    sweep = read_json(path)
    if sweep is None:
        raise ConfigError("results", "sweep.json is damaged; mend or delete it", value=folder)
    return sweep


def read_history(folder: Path, trial: str) -> dict[str, list[float]]:
    """Read a trial's `history.csv` as columns, one entry per evaluated epoch, in order of epoch.

    Empty cells are nan. A row cut short is dropped; of an epoch written twice (a trial resumed) the
    later row counts. Empty if there is no history.
    """
    try:
        text = (folder / "trials" / trial / "history.csv").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return {}
    whole, _, _ = text.rpartition("\n")
    header, *rows = list(csv.reader(whole.splitlines())) or [[]]
    if "epoch" not in header:
        return {}
    numbers = [_numbers(row) for row in rows if len(row) == len(header)]
    at = header.index("epoch")
    by_epoch = {row[at]: row for row in numbers if row and row[at] == row[at]}
    ordered = [by_epoch[epoch] for epoch in sorted(by_epoch)]
    return {name: [row[i] for row in ordered] for i, name in enumerate(header)}


def _numbers(row: Sequence[str]) -> list[float]:
    try:
        return [float(cell) if cell else float("nan") for cell in row]
    except ValueError:
        return []


def _record(path: Path) -> Record | None:
    result, spec = read_json(path / RESULT), read_json(path / SPEC)
    if result is None or spec is None or any(key not in result for key in _RESULT_KEYS):
        return None
    whole = isinstance(spec.get("spec"), dict) and result["status"] in STATUSES
    if not whole or result["trial"] != path.name:
        return None
    parts = {"choices": spec.get("choices") or {}, "spec": spec["spec"]}
    return {"fold": 0, "error": None, "metric": None, "direction": None, **result, **parts}
