"""The folder of a sweep: described by `sweep.json`, filled trial by trial."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gymspace.errors import ConfigError
from gymspace.records import HISTORY, RESULT, SPEC, read_json, write_json
from gymspace.results.read import read_sweep
from gymspace.schema import keys
from gymspace.spec import SPEC_VERSION, TrialSpec, identity
from gymspace.sweep.plan import Trial
from gymspace.sweep.spaces.space import Dimension, Space

MANIFEST, TRIALS = "sweep.json", "trials"
FINAL = ("done", "diverged", "pruned")


@dataclass(frozen=True)
class Manifest:
    """What a sweep is: its base config, the keys it varies, its repeats, the last command.

    ``trials`` are those planned, 0 in a search; ``search`` has the settings of one.
    """

    name: str
    command: str
    draw: str
    base: Mapping[str, Any]
    space: Sequence[Dimension]
    seeds: Sequence[int]
    folds: Sequence[int]
    trials: int = 0
    search: Mapping[str, Any] = field(default_factory=dict)


class SweepFolder:
    """``results/<sweep>``; make one with `hold` or `share`."""

    def __init__(self, path: Path):
        self.path = path

    def trial(self, id: str) -> Path:
        """The folder of a trial."""
        return self.path / TRIALS / id

    def result(self, trial: Trial) -> dict[str, Any] | None:
        """The result of a trial that needs no further run; None if it is missing or not final."""
        path = self.trial(trial.id)
        result = read_json(path / RESULT)
        if not result or result.get("status") not in FINAL or not (path / HISTORY).exists():
            return None
        return result

    def begin(self, trial: Trial) -> Path:
        """Make the folder of a trial that is about to run: its spec, and no result any more.

        What other code left there goes altogether: its checkpoint is not to be continued.
        """
        path = self.trial(trial.id)
        if path.exists() and self.outdated(trial):
            shutil.rmtree(path)
        path.mkdir(parents=True, exist_ok=True)
        (path / RESULT).unlink(missing_ok=True)
        write_json(path / SPEC, _spec_file(trial))
        return path

    def stop(self, trial: Trial, reason: str, like: Mapping[str, Any]) -> None:
        """Note that ``trial`` is not run: its design was given up after the result ``like``."""
        path = self.begin(trial)
        (path / HISTORY).touch()
        known = {key: like.get(key) for key in ("metric", "direction", "params", "split", "ranks")}
        ended = {"status": "pruned", "error": reason, "best_epoch": None, "epochs": 0}
        rest = {"seconds": 0.0, "traceback": None}
        write_json(path / RESULT, {**known, **identity(trial.spec), **ended, **rest})

    def outdated(self, trial: Trial) -> bool:
        """Whether a trial was run with other user code than there is now."""
        return self.code(trial) != dict(trial.code)

    def code(self, trial: Trial) -> dict[str, str]:
        """The hashes of the user's code that a trial was last run with."""
        kept = read_json(self.trial(trial.id) / SPEC) or {}
        return kept.get("code", {})

    def admit(self, manifest: Manifest, extend: bool) -> dict[str, Any]:
        """What the folder is to say of its sweep: ``manifest``, and what it knew of it before.

        Raises:
            ConfigError: the folder holds another sweep, and ``extend`` is not set.
        """
        known = read_sweep(self.path)
        if "imported" in known:
            raise ConfigError("sweep.name", "holds imported results", value=self.path.name)
        if not extend:
            self._require_same(manifest, known)
        return _merged(manifest, known)

    def describe(self, about: Mapping[str, Any]) -> None:
        """Write what the folder says of its sweep."""
        write_json(self.path / MANIFEST, about)

    def _require_same(self, manifest: Manifest, known: Mapping[str, Any]) -> None:
        varied = {d.key for d in manifest.space} | {d["key"] for d in known.get("space", ())}
        # A key that is newer than the folder had its default there.
        here, there = manifest.base, {**base_of(TrialSpec()), **known.get("base", manifest.base)}
        for key in sorted(here.keys() | there.keys(), key=lambda key: (key != "dataset", key)):
            if here.get(key) != there.get(key) and not any(_within(key, v) for v in varied):
                raise ConfigError(
                    "sweep.name",
                    f"this folder holds a sweep with {key}={there.get(key)}, not {here.get(key)}: "
                    "choose another sweep.name, or sweep.extend=true to have both in one table",
                    value=self.path,
                )


def _spec_file(trial: Trial) -> dict[str, Any]:
    """What is kept of a trial beside its result."""
    task, design = trial.design
    return {
        "spec_version": SPEC_VERSION,
        "trial": trial.id,
        "design": design,
        "task": task,
        "choices": dict(trial.choices),
        "code": dict(trial.code),
        "spec": trial.spec.model_dump(mode="json"),
    }


def base_of(spec: TrialSpec) -> dict[str, Any]:
    """The keys of ``spec`` that make a sweep another one: all that ids know of, but the repeats."""
    apart = (*TrialSpec.NOT_IN_ID, "seed", "fold")
    kept = [key for key in keys(TrialSpec) if not any(_within(key, other) for other in apart)]
    config = spec.model_dump(mode="json")
    return {key: _at(config, key) for key in kept}


def _at(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = value[part]
    return value


def _within(key: str, other: str) -> bool:
    return key == other or key.startswith(f"{other}.") or other.startswith(f"{key}.")


def space_json(space: Space) -> list[list[dict[str, Any]]]:
    """The dimensions of each sub-space, as JSON has them."""
    return [[_dimension_json(d) for d in part.dimensions] for part in space.parts]


def _dimension_json(dimension: Dimension) -> dict[str, Any]:
    """A dimension, without what it does not have."""
    told = json.loads(json.dumps(asdict(dimension)))
    return {key: value for key, value in told.items() if value not in (None, [])}


def _merged(manifest: Manifest, known: Mapping[str, Any]) -> dict[str, Any]:
    space = {d["key"]: dict(d) for d in known.get("space", ())}
    for dimension in manifest.space:
        old = space.get(dimension.key, {"choices": [], "alias": None})
        new = [c for c in dimension.choices if json.dumps(c) not in map(json.dumps, old["choices"])]
        space[dimension.key] = {
            "key": dimension.key,
            "choices": [*old["choices"], *new],
            "alias": dimension.alias or old["alias"],
        }
        if (whole := dimension.range) is not None or "range" in old:
            space[dimension.key]["range"] = old["range"] if whole is None else asdict(whole)
    return {
        **known,
        "version": 1,
        "name": manifest.name,
        "command": manifest.command,
        "draw": manifest.draw,
        **manifest.search,
        "base": known.get("base", dict(manifest.base)),
        "space": list(space.values()),
        "aliases": {d["key"]: d["alias"] for d in space.values() if d["alias"]},
        "seeds": sorted({*known.get("seeds", ()), *manifest.seeds}),
        "folds": sorted({*known.get("folds", ()), *manifest.folds}),
        "trials": max(known.get("trials", 0), manifest.trials),
    }
