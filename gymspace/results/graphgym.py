"""GraphGym's `agg/*.csv` -> a folder of imported means, and what was repaired, in words."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from gymspace.errors import ConfigError
from gymspace.records import write_atomic, write_json
from gymspace.results import names
from gymspace.results.cells import NULL, Cell, from_text, to_text
from gymspace.results.graphgym_tables import Layout, Tables, files_of, layout_of, read
from gymspace.results.imported import FILE, RULE
from gymspace.results.tables import Row, Table

_CHOOSING = ("auc", "accuracy")  # GraphGym's rule: auc where there is one
_WORDS: Mapping[str, Cell] = {"True": True, "False": False, "None": NULL, "": None}


def import_graphgym(
    source: Path,
    to: Path,
    *,
    metrics: Sequence[str] = (),
    task: Sequence[str] = (),
    seeds: int | None = None,
) -> list[str]:
    """Read GraphGym's tables in ``source`` and write a folder ``to`` that is read like a sweep's.

    ``source`` is a folder with some of the nine files ``{train,val,test}{,_best,_bestepoch}.csv``,
    or with an `agg/` that has some, or one such file. ``metrics`` rank designs, each task by the
    first that it has; ``task`` names the columns that make a task; ``seeds`` is how many repeats
    the means are of, if known. Returns what was found and repaired, one sentence each.

    Raises:
        ConfigError: no such tables or not GraphGym's, or ``to`` is there; nothing is written.
    """
    if to.exists():
        raise ConfigError("--to", "is there already; choose another folder", value=to)
    if not next(parent for parent in to.absolute().parents if parent.exists()).is_dir():
        raise ConfigError("--to", "lies below a file; choose another folder", value=to)
    if seeds is not None and seeds < 1:
        raise ConfigError("--seeds", "must be at least 1", value=seeds)
    tables = {name: read(path) for name, path in files_of(source).items()}
    layout = layout_of(tables, task)
    preferred = [name for name in _CHOOSING if name in layout.metrics]
    ordered = list(dict.fromkeys([*(metrics or preferred), *layout.metrics]))
    for name in metrics:
        if name not in layout.metrics:
            raise ConfigError("--metric", "no such metric", value=name, choices=layout.metrics)
    rows = [row for rule in layout.rules for row in _rows(tables, layout, rule, seeds)]
    said = list(_sentences(tables, layout, rows, seeds))
    about = {
        "from": str(source),
        "rules": [RULE[rule] for rule in layout.rules],
        "metrics": ordered,
        "columns": {column: name for name, column in layout.columns.items()},
        "task": [layout.columns[name] for name in layout.task],
        "probe": layout.probe,
        "seeds": seeds,
        "said": said,
    }
    to.mkdir(parents=True)
    text = _table(layout, rows).csv()
    write_atomic(to / FILE, lambda part: part.write_text(text, encoding="utf-8"))
    write_json(to / "sweep.json", {"version": 1, "name": to.name, "imported": about})
    return said


def _rows(tables: Tables, layout: Layout, rule: str, seeds: int | None) -> Iterator[Row]:
    """One row per design and task under a rule, the results of its splits side by side."""
    sides = [_side(t, split, layout) for (split, r), t in tables.items() if r == rule]
    merged = pd.concat(sides, axis=1)
    keys = [*layout.own, *(["epoch"] if layout.swept_epoch else [])]
    for key, values in zip(merged.index, merged.to_dict("records"), strict=True):
        cells = {name: _cell(text) for name, text in zip(keys, key, strict=False)}
        if layout.swept_epoch:
            cells["epoch"] = int(key[-2]) + 1  # epochs count from 0; last in a key is `again`
        numbers = {name: None if math.isnan(x) else x for name, x in values.items()}
        yield _row(layout, rule, cells, numbers, seeds)


def _side(table: pd.DataFrame, split: str, layout: Layout) -> pd.DataFrame:
    keys = [*layout.own, *(["epoch"] if layout.swept_epoch else [])]
    again = table.groupby(keys, sort=False).cumcount().rename("again")
    results = table.columns[len(layout.own) :]
    numbers = table[results].apply(pd.to_numeric, errors="coerce").astype(float)
    numbers = numbers.where(numbers.abs() < math.inf)
    numbers.columns = pd.Index([f"{split}_{name}" for name in results])
    numbers.index = pd.MultiIndex.from_frame(pd.concat([table[keys], again], axis=1))
    return numbers


def _row(
    layout: Layout,
    rule: str,
    cells: Mapping[str, Cell],
    numbers: Mapping[str, float | None],
    seeds: int | None,
) -> Row:
    design = [(name, to_text(cells[name])) for name in layout.dimensions]
    digest = hashlib.sha256(repr(design).encode()).hexdigest()[:12]
    task = " ".join(to_text(cells[name]) for name in layout.task if cells[name] is not None)
    blank = [s for s in names.SPLITS if f"{s}_loss" in numbers and numbers[f"{s}_loss"] is None]
    params = next((v for n, v in numbers.items() if n.endswith("_params") and v is not None), None)
    row: Row = {"design": digest, "task": task or "all", "rule": RULE[rule], "n_seeds": seeds}
    row |= {"status": "diverged" if blank else "done"}
    row |= {"error": f"no loss in {', '.join(blank)}" if blank else None}
    row |= {layout.columns[name]: cells[name] for name in (*layout.task, *layout.dimensions)}
    row |= {layout.probe: cells[layout.probe]} if layout.probe else {}
    row |= {"params": None if params is None else int(params)}
    kept = {n: v for n, v in numbers.items() if not n.endswith("_params")}
    if rule == "_bestepoch" and numbers.get("test_epoch") != numbers.get("val_epoch"):
        kept = {name: value for name, value in kept.items() if not name.startswith("test_")}
    return row | dict(_spread(name, value, seeds) for name, value in kept.items())


def _spread(name: str, value: float | None, seeds: int | None) -> tuple[str, float | None]:
    """A standard deviation with ddof 1 where the number of repeats is known, else named apart."""
    if not name.endswith("_std"):
        return name, value
    if seeds is None:
        return f"{name.removesuffix('_std')}_popstd", value
    if seeds == 1 or value is None:
        return name, None
    return name, value * math.sqrt(seeds / (seeds - 1))


def _table(layout: Layout, rows: Sequence[Row]) -> Table:
    head = ["rule", "task", "design", "status", "error", *([layout.probe] if layout.probe else [])]
    head += [*layout.columns.values(), "n_seeds", "params"]
    results = dict.fromkeys(name for row in rows for name in row)
    return Table((*head, *(name for name in results if name not in head)), tuple(rows))


def _cell(text: str) -> Cell:
    cell = _WORDS[text] if text in _WORDS else from_text(text)
    return text if cell != cell else cell  # "nan" is a word here


def _sentences(
    tables: Tables, layout: Layout, rows: Sequence[Row], seeds: int | None
) -> Iterator[str]:
    n_files, shown = len(tables), sum(row["rule"] == RULE[layout.rules[0]] for row in rows)
    yield f"{n_files} tables read: {shown} means of designs on tasks, without their repeats"
    for rule in layout.rules:
        blank = sum(row["rule"] == RULE[rule] and row["status"] != "done" for row in rows)
        if blank:
            where = f" in *{rule}.csv" if rule else ""
            yield f"{blank} rows{where} have no loss: taken for diverged, kept out of rankings"
    if layout.swept_epoch:
        yield "epoch is the last epoch and a swept number of epochs: read as a choice, one higher"
        lost = sorted({f"{s}{rule}.csv" for s, rule in tables if rule not in layout.rules})
        if lost:
            yield f"{', '.join(lost)} left out: the best epoch has overwritten the swept one"
    if any(rule == "_bestepoch" for rule in layout.rules) and ("test", "_bestepoch") in tables:
        yield "test_bestepoch.csv chose its epochs on the test split: its test scores are left out"
    if seeds is None:
        yield "spreads are of a population of unknown size: kept apart as *_popstd; say --seeds N"
    elif seeds > 1:
        yield f"spreads converted from a population's to a sample's of {seeds} repeats"
    yield from _doubles(tables, layout)
    yield from _census(next(iter(tables.values())), layout)


def _doubles(tables: Tables, layout: Layout) -> Iterator[str]:
    for (split, rule), table in tables.items():
        keys = [*layout.own, *(["epoch"] if layout.swept_epoch else [])]
        n = int(table.duplicated(keys).sum()) if rule in layout.rules else 0
        if n:
            yield f"{split}{rule}.csv has {n} rows of designs that it has already: all are kept"


def _census(table: pd.DataFrame, layout: Layout) -> Iterator[str]:
    """Matched groups that a controlled draw lacks, or has in part."""
    if layout.probe is None:
        return
    sizes = {}
    for name in layout.dimensions:
        drawn = table[table[layout.probe] == name]
        others = [key for key in (*layout.task, *layout.dimensions) if key != name]
        if len(drawn):
            sizes[name] = (drawn.groupby(others).size(), drawn[name].nunique())
    most = max((len(groups) for groups, _ in sizes.values()), default=0)
    for name, (groups, choices) in sizes.items():
        partial = int((groups < choices).sum())
        if missing := most - len(groups):
            yield f"{name}: {missing} of {most} groups {_are(missing)} missing"
        if partial:
            yield f"{name}: {partial} of {len(groups)} groups {_are(partial)} partial"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
