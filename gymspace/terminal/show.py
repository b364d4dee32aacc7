"""One trial: how it ended, its scores, its choices, its files."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import pandas as pd

from gymspace.errors import ConfigError
from gymspace.results.cells import level
from gymspace.results.names import SPLITS
from gymspace.results.read import Record, read_history
from gymspace.results.tables import finite
from gymspace.results.view import View
from gymspace.terminal.answer import Answer, Column, Plot, Sheet, text_column
from gymspace.terminal.asked import pick, reading, write
from gymspace.terminal.forms import choice, score


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    parser.add_argument("trial", help="its id, or the start of it")


def run(asked: Namespace) -> None:
    """Print the answer."""
    view = pick(asked)
    write(asked, answer(view, find_trial(view, asked.trial)))


def find_trial(view: View, asked: str) -> Record:
    """The record of the trial with this id, or whose id starts so.

    Raises:
        ConfigError: none, several, or one that has not finished.
    """
    known = {record["trial"]: record for record in view.records}
    found = [asked] if asked in known else [i for i in known if asked and i.startswith(asked)]
    if len(found) == 1:
        return known[found[0]]
    if found:
        problem = f"{len(found)} trials start so"
        raise ConfigError("trial", problem, value=asked, choices=sorted(found)[:12])
    if asked and any(path.name.startswith(asked) for path in view.folder.glob("trials/*")):
        raise ConfigError("trial", "has not finished, or is not among those asked for", value=asked)
    raise ConfigError("trial", f"no such trial among {len(known)}", value=asked)


def answer(view: View, record: Record) -> Answer:
    """Scores per split at the best epoch, choices, and where the files are."""
    metric = record["metric"]
    path = view.folder / "trials" / record["trial"]
    epoch = record.get("best_epoch")
    at = f" at epoch {epoch}, the best one on validation" if epoch is not None else ""
    reason = f": {record['error']}" if record["error"] else ""
    plot = None if view.imported else _curve(read_history(view.folder, record["trial"]), metric)
    sheets = [_scores(record, metric, at, plot), _choices(view, record)]
    known = ("seed", "fold", "task", "design", "split", "epochs", "params", "seconds", "ranks")
    facts = [
        f"{name} {choice(level(record[name]))}" for name in known if record.get(name) is not None
    ]
    said = [", ".join(facts)]
    said += [f"files in {path}: {_files(path)}"] if path.is_dir() else []
    return Answer(f"{record['trial']}  {record['status']}{reason}", tuple(sheets), tuple(said))


def _scores(record: Record, metric: str | None, at: str, plot: Plot | None) -> Sheet:
    names = dict.fromkeys(name for name in (metric, "loss") if name)
    measured = [
        name.removeprefix("val_")
        for name in record
        if name.startswith("val_") and not name.endswith(("std", "epoch"))
    ]
    names |= dict.fromkeys(measured)
    rows = [
        {"split": split, **{name: finite(record.get(f"{split}_{name}")) for name in names}}
        for split in SPLITS
        if any(finite(record.get(f"{split}_{name}")) is not None for name in names)
    ]
    frame = pd.DataFrame(rows, columns=["split", *names])
    columns = (text_column("split"), *(Column(name, name, score) for name in names))
    return Sheet("scores", frame, columns, f"scores{at}" if rows else "no scores", plot=plot)


def _choices(view: View, record: Record) -> Sheet:
    row = next(
        row
        for row in view.trials.rows
        if (row["task"], row["trial"]) == (record["task"], record["trial"])
    )
    pairs = [(name, row.get(name)) for name in view.aliases if row.get(name) is not None]
    frame = pd.DataFrame(pairs, columns=["key", "choice"]).astype({"choice": object})
    columns = (text_column("key"), Column("choice", "choice", choice, "fold"))
    return Sheet("choices", frame, columns, "choices" if pairs else "")


def _curve(history: dict[str, list[float]], metric: str | None) -> Plot | None:
    parts = [
        pd.DataFrame({"series": split, "x": history["epoch"], "y": history[f"{split}_{metric}"]})
        for split in SPLITS
        if f"{split}_{metric}" in history
    ]
    data = pd.concat(parts).dropna() if parts else pd.DataFrame({"x": []})
    if len(set(data["x"])) < 2:
        return None
    return Plot(data, "epoch", f"{metric}: t train, v val, e test", marks="tve")


def _files(path: Path) -> str:
    return "  ".join(sorted(part.name for part in path.iterdir()))
