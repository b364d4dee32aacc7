"""TensorBoard's view of a sweep: a table of all trials, and a mean curve for each design."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from gymspace.errors import ConfigError
from gymspace.results import designs, names
from gymspace.results.cells import to_text
from gymspace.results.designs import Design, Trials
from gymspace.results.eventfile import write_events
from gymspace.results.hparams import columns, table, write_session
from gymspace.results.read import Record, read_history, read_sweep, read_trials

DESIGNS = "designs"
FILE = "events.out.tfevents.sweep"
MOST = 100  # designs with a curve of their own: more cannot be told apart
_LONGEST = 200  # bytes; the name of a folder has at most 255
Rows = Sequence[tuple[int, Mapping[str, float]]]


def write_board(folder: Path) -> None:
    """Write what `tensorboard --logdir` shows of the sweep in ``folder`` beside its trials' curves.

    These are the columns of the HParams table, every trial's row of it, and a run for each of the
    best designs, named after its choices: the mean curves of its repeats. All follow from the
    result files alone; a file that says the same already is left alone. Trials with
    ``log.tensorboard=false`` are left out.

    Raises:
        ConfigError: ``folder`` is not a sweep's folder, or cannot be written.
    """
    records = [record for record in read_trials(folder) if _wanted(record)]
    if not records:
        return
    trials = designs.gather(records)
    try:
        rows = table(trials)
        write_events(folder / FILE, [Event(summary=columns(trials, rows))])
        for record in records:
            write_session(folder / "trials" / record["trial"], rows[record["trial"]], record)
        _write_designs(folder, trials)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError("results", problem, value=folder) from error


def _wanted(record: Record) -> bool:
    return record["spec"].get("log", {}).get("tensorboard", True)


def _write_designs(folder: Path, trials: Trials) -> None:
    """One run per design in ``designs/``; runs of designs that are not among the best any more go.

    A single design needs none.
    """
    found = _best(designs.designs(trials))
    labels = _labels(folder, trials, found) if len(found) > 1 else []
    for name, design in zip(labels, found, strict=False):
        path = folder / DESIGNS / name
        path.mkdir(parents=True, exist_ok=True)
        write_events(path / FILE, _events(_means(folder, design)))
    for path in (folder / DESIGNS).glob("*"):
        if path.name not in labels:
            (path / FILE).unlink(missing_ok=True)
            path.rmdir()


def _best(found: Sequence[Design]) -> list[Design]:
    """Designs with a finished trial, best mean on validation first, at most `MOST` of them."""
    scored = []
    for design in found:
        done = [r for r in design.records if r["status"] == "done"]
        values = [r[f"val_{r['metric']}"] for r in done]
        if values:
            sign = -1 if done[0]["direction"] == "max" else 1
            scored.append((sign * fmean(values), design.task, design.design, design))
    return [design for *_, design in sorted(scored, key=lambda entry: entry[:-1])[:MOST]]


def _labels(folder: Path, trials: Trials, found: Sequence[Design]) -> list[str]:
    """A name for each design's folder: its choices, under their short names."""
    explicit = read_sweep(folder).get("aliases") or {}
    alias = names.aliases(trials.varied, explicit, designs.metrics(trials.records))
    labels = []
    for design in found:
        pairs = zip(trials.varied, design.cells, strict=True)
        words = [f"{alias[key]}={to_text(cell)}" for key, cell in pairs if cell is not None]
        label = ", ".join(words).replace("/", "_")
        short = label.encode()[:_LONGEST].decode(errors="ignore")
        labels.append(label if label == short else f"{short}... {design.design}")
    return labels


def _means(folder: Path, design: Design) -> Rows:
    """Per epoch the means over the design's finished repeats, as far as all of them came."""
    done = [record["trial"] for record in design.records if record["status"] == "done"]
    repeats = [_by_epoch(read_history(folder, trial)) for trial in done]
    shared = sorted(set.intersection(*(set(repeat) for repeat in repeats)))
    return [
        (int(epoch), {name: fmean(r[epoch][name] for r in repeats) for name in repeats[0][epoch]})
        for epoch in shared
    ]


def _by_epoch(history: Mapping[str, Sequence[float]]) -> dict[float, dict[str, float]]:
    scores = [name for name in history if name.partition("_")[0] in names.SPLITS]
    return {
        epoch: {name: history[name][at] for name in scores}
        for at, epoch in enumerate(history.get("epoch", ()))
    }


def _events(rows: Rows) -> Iterator[Event]:
    for epoch, scores in rows:
        values = [
            Summary.Value(tag=curve(name), simple_value=value) for name, value in scores.items()
        ]
        yield Event(step=epoch, summary=Summary(value=values))


def curve(column: str) -> str:
    """The tag of a history's column: ``val_accuracy`` is ``accuracy/val``, one chart a metric."""
    split, _, metric = column.partition("_")
    return f"{metric}/{split}"
