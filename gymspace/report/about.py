"""Sections on how a sweep was run: failures, its command and config, versions."""

import json
import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gymspace.report.parts import Section, Sheet, counted
from gymspace.results.cells import level, to_text
from gymspace.results.names import STATUSES
from gymspace.results.view import View
from gymspace.spec import TrialSpec

_BAD = ("failed", "diverged", "timeout")
_REASONS, _EXAMPLES = 50, 3
_PACKAGES = (
    "gymspace",
    "torch",
    "torch_geometric",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "optuna",
    "hydra-core",
    "omegaconf",
)


def counts(view: View) -> str:
    """How many trials ended how."""
    status = Counter(record["status"] for record in view.records)
    words = [f"{status[name]:,} {name}" for name in STATUSES if status[name]]
    words += [f"{view.unfinished:,} unfinished"] if view.unfinished else []
    return ", ".join(words)


def failures(view: View) -> Section:
    """Why trials ended badly, the most frequent reason first."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in view.records:
        if record["status"] in _BAD:
            reason = record["error"] or "(no reason given)"
            found.setdefault((record["status"], reason), []).append(record["trial"])
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    if not ordered:
        return Section("failures", "Failures", ["No trial failed, diverged or ran out of time."])
    rows = [
        (f"{len(trials):,}", status, reason, ", ".join(trials[:_EXAMPLES]))
        for (status, reason), trials in ordered[:_REASONS]
    ]
    total = sum(len(trials) for trials in found.values())
    words = [f"{counted(total, 'trial')} of {len(view.records):,} are in no mean and no ranking."]
    if len(ordered) > _REASONS:
        words.append(f"The {_REASONS} most frequent of {len(ordered):,} reasons.")
    if not view.imported:
        words.append("What a trial printed is in trials/TRIAL/trial.log.")
    head = (("trials", True), ("status", False), ("reason", False), ("for example", False))
    return Section("failures", "Failures", words, sheets=[Sheet("", head, rows)])


def made(view: View, sweep: Mapping[str, Any]) -> Section:
    """The command, the space and the config of a sweep, and the versions of what read it."""
    sheets = [*_space(sweep), *_changed(sweep)]
    blocks = {}
    if command := sweep.get("command"):
        blocks["Command"] = str(command)
    if base := sweep.get("base"):
        lines = [f"{key}: {json.dumps(value)}" for key, value in base.items()]
        blocks["Config that its trials share"] = "\n".join(lines)
    if view.imported:
        blocks["Imported from"] = str(sweep["imported"].get("from", "?"))
    words = [] if blocks else ["The folder does not say: it has no sweep.json."]
    sheets.append(
        Sheet("Versions where this page was written", _HEAD, list(_versions()), folded=True)
    )
    return Section("made", "How it was made", words, sheets=sheets, blocks=blocks)


_HEAD = (("", False), ("version", False))


def _space(sweep: Mapping[str, Any]) -> Iterator[Sheet]:
    rows = [
        (d.get("key", "?"), d.get("alias") or "", _choices(d)) for d in sweep.get("space") or ()
    ]
    seeds = sweep.get("seeds") or []
    if seeds:
        rows.append(("seed", "", ", ".join(map(str, seeds))))
    if rows:
        head = (("dimension", False), ("alias", False), ("choices", False))
        yield Sheet(f"Space ({sweep.get('draw', 'grid')})", head, rows)


def _choices(dimension: Mapping[str, Any]) -> str:
    """The choices of a dimension, or its range: ``0.001 .. 0.1 (log)``."""
    if whole := dimension.get("range"):
        return _range(whole)
    if "choices" in dimension:
        return ", ".join(to_text(level(choice)) for choice in dimension["choices"])
    return json.dumps({k: v for k, v in dimension.items() if k not in ("key", "alias")})


def _range(whole: Mapping[str, Any]) -> str:
    low, high = (to_text(level(whole[end])) for end in ("low", "high"))
    how = ["log"] if whole.get("log") else []
    how += [f"step {to_text(level(whole['step']))}"] if whole.get("step") else []
    return f"{low} .. {high}" + (f" ({', '.join(how)})" if how else "")


def _changed(sweep: Mapping[str, Any]) -> Iterator[Sheet]:
    """The keys of the base config that are not at their default."""
    default = TrialSpec().model_dump(mode="json")
    base = sweep.get("base") or {}
    rows = [
        (key, to_text(level(value)), to_text(level(_at(default, key))))
        for key, value in base.items()
        if value != _at(default, key)
    ]
    if rows:
        head = (("key", False), ("value", False), ("default", False))
        yield Sheet("Not at its default", head, rows)


def _at(config: Any, key: str) -> Any:
    for part in key.split("."):
        config = config.get(part) if isinstance(config, dict) else None
    return config


def _versions() -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
    yield "system", f"{platform.platform()}, {os.cpu_count()} cores"
