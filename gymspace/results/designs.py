"""Which keys vary in a set of trials, with what values, and which trials repeat one design."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gymspace.results.cells import Cell, level, order
from gymspace.results.read import Record
from gymspace.spec import TrialSpec

_REPEAT = ("seed", "fold")
_MISSING = object()


@dataclass(frozen=True)
class Trials:
    """Records, the keys that vary among them, and each trial's cells at those keys."""

    records: tuple[Record, ...]
    varied: tuple[str, ...]
    cells: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True)
class Design:
    """The trials of one design on one task, sorted by repeat; their cells at the varied keys."""

    task: str
    design: str
    cells: tuple[Cell, ...]
    records: tuple[Record, ...]


def gather(records: Sequence[Record]) -> Trials:
    """Find what varies: every swept key, and every spec key with several values among the trials.

    Swept keys come in the order of their space, the others sorted. Left out are seed and fold, and
    keys that no id depends on (where files are, logging, limits).
    The trials come back sorted by their cells, then by task, design and repeat.
    """
    inorder = sorted(records, key=lambda record: record["trial"])
    swept = dict.fromkeys(key for record in inorder for key in record["choices"])
    varied = (*swept, *sorted(_differing(records, swept.keys()) - swept.keys()))
    keys = tuple(key for key in varied if not _outside(key))
    cells, place = _cells(records, keys)
    ordered = sorted(records, key=lambda r: (place[r["trial"]], *_identity(r)))
    return Trials(tuple(ordered), keys, cells)


def designs(trials: Trials) -> list[Design]:
    """Group trials by task and design, in the order of the trials.

    Ranks, precision and device belong to the repeat's id: where they vary they split a design.
    """
    run = [i for i, key in enumerate(trials.varied) if _root(key) in TrialSpec.RUN]
    groups: dict[tuple, list[Record]] = {}
    for record in trials.records:
        cells = trials.cells[record["trial"]]
        group = record["task"], record["design"], *(order(cells[i]) for i in run)
        groups.setdefault(group, []).append(record)
    return [
        Design(
            members[0]["task"],
            members[0]["design"],
            trials.cells[members[0]["trial"]],
            tuple(sorted(members, key=_identity)),
        )
        for members in groups.values()
    ]


def task_keys(varied: Sequence[str]) -> list[str]:
    """Those of the varied keys that make the task."""
    return [key for key in varied if _root(key) in TrialSpec.TASK]


def metrics(records: Sequence[Record]) -> list[str]:
    """Names of all metrics in the records: those that chose an epoch first, then the others."""
    choosing = sorted({record["metric"] for record in records if record["metric"]})
    names = {key[4:] for record in records for key in record if key.startswith("val_")}
    return choosing + sorted(names - {"loss", *choosing})


def _identity(record: Record) -> tuple:
    return tuple(record[key] for key in ("task", "design", "seed", "fold", "trial"))


def _cells(
    records: Sequence[Record], keys: Sequence[str]
) -> tuple[dict[str, tuple[Cell, ...]], dict[str, int]]:
    """Each trial's cells, and the place of these in the order of all; worked out once per design.

    Trials that were read together share equal parts of their specs as the same objects.
    """
    roots = list(dict.fromkeys(map(_root, keys)))
    known: dict[tuple[int, ...], tuple[Cell, ...]] = {}
    cells = {}
    for record in records:
        spec, choices = record["spec"], record["choices"]
        same = (id(choices), *(id(spec.get(root, _MISSING)) for root in roots))
        if same not in known:
            flat = _flat({root: spec[root] for root in roots if root in spec}, *roots)
            known[same] = tuple(_cell(choices, flat, key, keys) for key in keys)
        cells[record["trial"]] = known[same]
    orders = {id(row): tuple(map(order, row)) for row in known.values()}
    places = {key: place for place, key in enumerate(sorted(set(orders.values())))}
    return cells, {trial: places[orders[id(row)]] for trial, row in cells.items()}


def _root(key: str) -> str:
    return key.partition(".")[0]


def _outside(key: str) -> bool:
    return key in (*_REPEAT, *TrialSpec.NOT_IN_ID) or _root(key) in TrialSpec.NOT_IN_ID


def _differing(records: Sequence[Record], swept: Collection[str]) -> set[str]:
    roots = dict.fromkeys([*map(_root, _defaults()), *(key for r in records for key in r["spec"])])
    parts = {
        (root, id(part)): (root, part)
        for spec in (record["spec"] for record in records)
        for root in roots
        for part in (spec.get(root, _MISSING),)
    }
    seen: dict[str, set[str]] = {}
    for root, part in parts.values():
        spec = {} if part is _MISSING else {root: part}
        for key, value in _flat(spec, root).items():
            seen.setdefault(key, set()).add(json.dumps(_bare(value, key, swept), sort_keys=True))
    return {key for key, texts in seen.items() if len(texts) > 1}


def _cell(
    choices: Mapping[str, Any], spec: Mapping[str, Any], key: str, varied: Sequence[str]
) -> Cell:
    own = _lookup(spec, key)
    value = choices.get(key, own)
    if value is _MISSING:
        return None
    # The spec has the canonical type: a choice of 0 for a key that is a float is 0.0.
    value = own if not isinstance(value, bool) and value == own else value
    return level(_bare(value, key, varied))


def _lookup(spec: Mapping[str, Any], key: str) -> Any:
    if key in spec:
        return spec[key]
    slot, _, argument = key.rpartition(".")
    component = spec.get(slot)
    return component.get(argument, _MISSING) if isinstance(component, dict) else _MISSING


def _bare(value: Any, key: str, varied: Collection[str]) -> Any:
    """A component without those of its arguments that have a column of their own."""
    if not isinstance(value, dict):
        return value
    kept = {name: arg for name, arg in value.items() if f"{key}.{name}" not in varied}
    return kept["name"] if set(kept) == {"name"} else kept


def _flat(spec: Mapping[str, Any], *roots: str) -> dict[str, Any]:
    """The leaves below ``roots`` of a spec that has no others."""
    # Defaults first: a spec saved before a key was added had that key's default.
    known = {key: value for key, value in _defaults().items() if _root(key) in roots}
    return {**known, **dict(_leaves(spec))}


@lru_cache(maxsize=1)
def _defaults() -> Mapping[str, Any]:
    return dict(_leaves(TrialSpec.model_validate({}).model_dump(mode="json")))


def _leaves(spec: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in spec.items():
        if isinstance(value, dict) and "name" not in value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
