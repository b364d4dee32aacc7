"""TensorBoard's HParams table: its columns, typed, and a row for each trial."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import metadata
from tensorboard.plugins.hparams.api_pb2 import Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo
from tensorboard.plugins.hparams.summary_v2 import (
    Discrete,
    Domain,
    HParam,
    Metric,
    RealInterval,
    hparams_config_pb,
    hparams_pb,
)

from gymspace.results import designs, names
from gymspace.results.cells import Cell, level, to_text
from gymspace.results.designs import Trials
from gymspace.results.eventfile import write_events

# In the order of names it follows a trial's own events, which TensorBoard must read first.
SESSION = "events.out.tfevents.hparams"
Value = bool | int | float | str
Row = Mapping[str, Value]


def write_session(folder: Path, row: Row, result: Mapping[str, Any]) -> None:
    """Write a trial's row of the table to its ``folder``, and whether the trial succeeded."""
    status = "STATUS_SUCCESS" if result["status"] == "done" else "STATUS_FAILURE"
    end = HParamsPluginData(session_end_info=SessionEndInfo(status=Status.Value(status)))
    ended = Summary.Value(
        tag=metadata.SESSION_END_INFO_TAG,
        tensor=metadata.NULL_TENSOR,
        metadata=metadata.create_summary_metadata(end),
    )
    started = hparams_pb(dict(row), trial_id=result["trial"], start_time_secs=0)
    parts = (started, Summary(value=[ended]))
    write_events(folder / SESSION, [Event(summary=part) for part in parts])


def row(choices: Mapping[str, Any], result: Mapping[str, Any]) -> Row:
    """The row of a trial as far as it is known by itself: its choices and its seed."""
    cells = {key: _same_type([level(value)])[0] for key, value in choices.items()}
    return {**cells, "seed": result["seed"]}


def table(trials: Trials) -> dict[str, Row]:
    """Each trial's row, by id: one type per column, and no entry for an empty cell."""
    column = names.columns(trials.varied, designs.metrics(trials.records))
    rows: dict[str, dict[str, Value]] = {record["trial"]: {} for record in trials.records}
    for at, key in enumerate(trials.varied):
        cells = {id: cell for id in rows if (cell := trials.cells[id][at]) is not None}
        for id, value in zip(cells, _same_type(list(cells.values())), strict=True):
            rows[id][column[key]] = value
    return {
        record["trial"]: {**rows[record["trial"]], "seed": record["seed"]}
        for record in trials.records
    }


def columns(trials: Trials, rows: Mapping[str, Row]) -> Summary:
    """The columns of the table: swept keys and seed with their domains, and the best scores."""
    values: dict[str, list[Value]] = {}
    for cells in rows.values():
        for name, value in cells.items():
            values.setdefault(name, []).append(value)
    params = [HParam(name, _domain(column)) for name, column in values.items()]
    tags = dict.fromkeys(tag for record in trials.records for tag in scores(record))
    return hparams_config_pb(params, [Metric(tag) for tag in tags], time_created_secs=0)


def scores(result: Mapping[str, Any]) -> dict[str, float]:
    """Tags and values of a result's validation and test metrics, losses left out."""
    metrics = [name for name in result if name.startswith(("val_", "test_"))]
    wanted = [name for name in metrics if not name.endswith("_loss") and result[name] is not None]
    return {f"best/{name}": result[name] for name in wanted}


def _same_type(cells: Sequence[Cell]) -> list[Value]:
    """Truth values or numbers as they are where all are that; else everything as text."""
    kinds = {bool if isinstance(c, bool) else float for c in cells if isinstance(c, int | float)}
    if len(kinds) == 1 and all(isinstance(cell, int | float) for cell in cells):
        return [cell for cell in cells if isinstance(cell, int | float)]
    return [cell if isinstance(cell, str) else to_text(cell) for cell in cells]


def _domain(values: Sequence[Value]) -> Domain:
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if numbers:
        return RealInterval(min(numbers), max(numbers))
    return Discrete(sorted(set(values), key=str))
