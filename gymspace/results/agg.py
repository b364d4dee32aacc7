"""GraphGym's tables of means over repeats, with epochs chosen on validation only."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gymspace.results import designs, names
from gymspace.results.designs import Design
from gymspace.results.read import Record, read_history
from gymspace.results.tables import Row, Table, chooser, counted, finite, mean_std

RULES = ("", "_best", "_bestepoch")
_DDOF = 0  # as in GraphGym's tables
_DIGITS = 4


@dataclass(frozen=True)
class Curves:
    """What one finished trial measured (columns over its evaluated epochs) and its best epoch."""

    columns: Mapping[str, list[float]]
    best: float

    @property
    def epochs(self) -> list[float]:
        """Evaluated epochs, ascending."""
        return self.columns["epoch"]


def agg_tables(
    folder: Path, records: Sequence[Record], explicit: Mapping[str, str]
) -> dict[str, Table]:
    """The nine tables by name: a split, then nothing, ``_best`` or ``_bestepoch``.

    Without suffix: each repeat at its last evaluated epoch. ``_best``: each repeat at its own
    validation-chosen epoch. ``_bestepoch``: all repeats at the one epoch where their mean
    validation score is best, among the epochs that all of them evaluated. ``epoch`` is the mean
    over repeats; spreads have ddof 0; everything is rounded to 4 digits. Ties take the earliest
    epoch. A design without a finished repeat has no row.

    Raises:
        ConfigError: an alias in ``explicit`` names a result column, or two keys' column.
    """
    trials, measured = designs.gather(records), designs.metrics(records)
    alias = names.aliases(trials.varied, explicit, measured)
    rows: dict[str, list[Row]] = {f"{s}{rule}": [] for rule in RULES for s in names.SPLITS}
    for design in designs.designs(trials):
        choices = {alias[key]: cell for key, cell in zip(trials.varied, design.cells, strict=True)}
        for name, row in _rows(folder, design, measured).items():
            rows[name].append(choices | row)
    spread = [part for name in ("time_iter", *measured) for part in (name, f"{name}_std")]
    columns = (*alias.values(), "epoch", "loss", "loss_std", "params", *spread)
    return {name: Table(columns, tuple(found)) for name, found in rows.items()}


def _rows(folder: Path, design: Design, measured: Sequence[str]) -> dict[str, Row]:
    used = counted(design)
    by = chooser(used)
    read = [(record, read_history(folder, record["trial"])) for record in used]
    curves = [_curves(record, columns, by) for record, columns in read if by and columns]
    curves = [one for one in curves if one.epochs]
    if by is None or not curves:
        return {}
    common = _common_best(curves, *by)
    chosen = {
        "": [one.epochs[-1] for one in curves],
        "_best": [one.best for one in curves],
        "_bestepoch": [common] * len(curves),
    }
    params = next((record["params"] for record in used if record.get("params")), None)
    return {
        f"{split}{rule}": _row(split, curves, chosen[rule], measured) | {"params": params}
        for rule in RULES
        for split in names.SPLITS
    }


def _row(
    split: str, curves: Sequence[Curves], epochs: Sequence[float], measured: Sequence[str]
) -> Row:
    source = {"time_iter": "seconds", **{name: f"{split}_{name}" for name in ("loss", *measured)}}
    row: Row = {"epoch": _whole(mean_std(map(finite, epochs), _DDOF)[0])}
    for name, column in source.items():
        values = [_at(one, column, epoch) for one, epoch in zip(curves, epochs, strict=True)]
        mean, std = mean_std(values, _DDOF)
        row |= {name: _rounded(mean), f"{name}_std": _rounded(std)}
    return row


def _curves(record: Record, columns: Mapping[str, list[float]], by: tuple[str, bool]) -> Curves:
    epochs, scores = columns["epoch"], columns.get(f"val_{by[0]}", [])
    best = record.get("best_epoch")
    if best not in epochs:
        best = _best(dict(zip(epochs, scores, strict=False)), by[1])
    return Curves(columns, best)


def _common_best(curves: Sequence[Curves], metric: str, more_is_better: bool) -> float:
    column = f"val_{metric}"
    shared = set(curves[0].epochs).intersection(*(one.epochs for one in curves))
    means = {}
    for epoch in sorted(shared):
        scores = [_at(one, column, epoch) for one in curves]
        there = [score for score in scores if score is not None]
        if len(there) == len(curves):
            means[epoch] = math.fsum(there) / len(there)
    return _best(means, more_is_better)


def _best(scores: Mapping[float, float], more_is_better: bool) -> float:
    """The earliest epoch with the best score; nan if no score is finite."""
    sign = -1 if more_is_better else 1
    there = {epoch: score for epoch, score in scores.items() if math.isfinite(score)}
    return min(there, key=lambda epoch: (sign * there[epoch], epoch), default=math.nan)


def _at(one: Curves, column: str, epoch: float) -> float | None:
    if epoch not in one.epochs or column not in one.columns:
        return None
    return finite(one.columns[column][one.epochs.index(epoch)])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _whole(value: float | None) -> float | int | None:
    if value is None:
        return None
    return int(value) if value.is_integer() else round(value, _DIGITS)
