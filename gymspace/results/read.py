"""Trials read from a sweep's folder; what is not a finished trial is left out, never guessed."""

import csv
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.records import RESULT, SPEC, read_json
from gymspace.results.names import STATUSES

Record = dict[str, Any]
# Of result.json and spec.json: time of change, bytes, inode; noughts if there is no such file.
Stamp = tuple[int, ...]
_SETTLED = 2_000_000_000  # ns
_YOUNG = (-1,) * 6  # the stamp of what may change once more within a tick of the clock
_RESULT_KEYS = ("trial", "design", "task", "seed", "status")


@dataclass(frozen=True)
class Reading:
    """The trials of a sweep as they were found, and by what each can be known again.

    ``stamps`` has an entry per trial's folder, finished or not; ``records`` are sorted by trial.
    """

    stamps: Mapping[str, Stamp]
    records: Sequence[Record]

    @property
    def unfinished(self) -> int:
        """Folders without a whole result."""
        return len(self.stamps) - len(self.records)


def read_trials(folder: Path) -> list[Record]:
    """Read every finished trial of a sweep, sorted by trial id.

    A record is the trial's `result.json` with ``choices`` and ``spec`` of its `spec.json`. Folders
    without both files whole, or whose name is not their trial's id (copies), are passed over.
    Records share what is equal in them: they are not to be changed.

    Raises:
        ConfigError: ``folder`` is not the folder of a sweep.
    """
    return list(read_again(folder, None).records)


def read_again(folder: Path, known: Reading | None) -> Reading:
    """As `read_trials`, with what is known already of trials whose files have not changed.

    Raises:
        ConfigError: ``folder`` is not the folder of a sweep.
    """
    begun = time.time_ns()
    stamps = _stamps(folder)
    if known is not None and known.stamps == stamps:
        return known
    kept = {r["trial"]: r for r in known.records} if known else {}
    before = known.stamps if known else {}
    same: dict[Any, Any] = {}
    records = []
    for name in sorted(stamps):
        unchanged = before.get(name) == stamps[name]
        record = kept.get(name) if unchanged else _record(folder / "trials" / name)
        if record is not None:
            records.append(record if unchanged else _shared(record, same))
    settled = {
        name: stamp if max(stamp[::3]) < begun - _SETTLED else _YOUNG
        for name, stamp in stamps.items()
    }
    return Reading(settled, records)


def _stamps(folder: Path) -> dict[str, Stamp]:
    trials = folder / "trials"
    if not folder.is_dir():
        raise ConfigError("results", "there is no such folder", value=folder)
    if not trials.is_dir():
        raise ConfigError("results", "is not a sweep's folder: it has no trials/", value=folder)
    with os.scandir(trials) as entries:
        names = [e.name for e in entries if not e.name.startswith(".") and e.is_dir()]
    return {
        name: (*_stamp(f"{trials}/{name}/{RESULT}"), *_stamp(f"{trials}/{name}/{SPEC}"))
        for name in names
    }


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116 (a Path for each of them takes longer than the call)
    except OSError:
        return (0, 0, 0)
    return status.st_ctime_ns, status.st_size, status.st_ino


def _shared(record: Record, same: dict[Any, Any]) -> Record:
    """The record with those parts of its spec that another trial has too as the same objects."""

    def once(part: Any) -> Any:
        plain = not isinstance(part, dict | list)
        return same.setdefault((type(part), part) if plain else json.dumps(part), part)

    spec = {key: once(part) for key, part in record["spec"].items()}
    return {**record, "choices": once(record["choices"]), "spec": spec}


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
