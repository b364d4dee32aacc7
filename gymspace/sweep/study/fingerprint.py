"""What a study is about, so that another search under its name is refused."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import optuna

from gymspace.errors import ConfigError
from gymspace.sweep.study.proposals import Direction
from gymspace.sweep.study.storage import ANSWER

ABOUT = "about"
KEY = "sweep.name"


def open_study(
    backend: optuna.storages.BaseStorage,
    name: str,
    directions: Sequence[Direction],
    about: Mapping[str, Any],
    extend: bool,
) -> optuna.Study:
    """The study of that name, made if there is none.

    With ``extend`` another space or base takes the place of the study's own.

    Raises:
        ConfigError: it is about something else; another direction or other objectives are never
            taken.
    """
    here = json.loads(json.dumps(about))
    try:
        study = optuna.create_study(storage=backend, study_name=name, directions=list(directions))
    except optuna.exceptions.DuplicatedStudyError:
        study = optuna.load_study(storage=backend, study_name=name)
    else:
        study.set_user_attr(ABOUT, here)
        return study
    there = _about(study)
    if there is not None:
        _require("objectives", there.get("objectives"), here.get("objectives"), name)
    _require("directions", [d.name.lower() for d in study.directions], list(directions), name)
    if there is None:
        study.set_user_attr(ABOUT, here)
    elif there != here:
        if not extend:
            _require_same(there, here, name)
        study.set_user_attr(ABOUT, here)
    return study


def _about(study: optuna.Study) -> Mapping[str, Any] | None:
    """What the study says it is about; the process that made it may be about to write it."""
    patience = time.monotonic() + ANSWER
    while (about := study.user_attrs.get(ABOUT)) is None and time.monotonic() < patience:
        if study.get_trials(deepcopy=False):
            raise ConfigError(
                KEY, "this study was not made here: choose another", value=study.study_name
            )
        time.sleep(0.05)
    return about


def _require_same(there: Mapping[str, Any], here: Mapping[str, Any], name: str) -> None:
    flat_there, flat_here = _flat(there), _flat(here)
    for key in sorted(
        flat_there.keys() | flat_here.keys(), key=lambda key: (key != "base.dataset", key)
    ):
        _require(key, flat_there.get(key), flat_here.get(key), name)


def _require(key: str, there: Any, here: Any, name: str) -> None:
    if there != here:
        problem = f"this study has {key}={_short(there)}, not {_short(here)}: choose another name"
        if key not in ("directions", "objectives"):
            problem += ", or sweep.extend=true to go on with both"
        raise ConfigError(KEY, problem, value=name)


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings, and lists of them, as dotted keys."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    found: dict[str, Any] = {}
    for key, inner in items:
        at = f"{prefix}.{key}" if prefix else str(key)
        nested = isinstance(inner, Mapping) or (
            isinstance(inner, list) and any(isinstance(one, Mapping | list) for one in inner)
        )
        found |= _flat(inner, at) if nested else {at: inner}
    return found


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
