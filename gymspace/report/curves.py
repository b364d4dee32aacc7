"""Learning curves of the best designs, small enough for a page."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from gymspace.analysis import figures
from gymspace.analysis.curves import learning_curves
from gymspace.report.board import Metrics
from gymspace.report.parts import Panel, Section, counted
from gymspace.results.read import read_history
from gymspace.results.tables import Row
from gymspace.results.view import View

MOST = 60  # designs
_EPOCHS = 100  # points of a curve
_REPEATS = 20  # histories read of one design


def with_curves(view: View, metrics: Metrics) -> dict[str, Row]:
    """The best designs of each task that have a history, by ``task/design``, best first."""
    if view.imported:
        return {}
    share = max(MOST // max(len(metrics), 1), 2)
    found: dict[str, Row] = {}
    seen: dict[str, int] = {}
    for row in view.leaderboard.rows:
        if row.get("rank") is not None and seen.get(row["task"], 0) < share and len(found) < MOST:
            seen[row["task"]] = seen.get(row["task"], 0) + 1
            found[f"{row['task']}/{row['design']}"] = row
    return found


def curves(
    view: View, metrics: Metrics, chosen: Mapping[str, Row], labels: Mapping[str, str]
) -> Section | None:
    """Curves of the ``chosen`` designs, which have the ``labels``; None if there is none.

    The section's data has the labels, by the keys that rows of the leaderboard link to.
    """
    histories = _histories(view, metrics, chosen)
    panels = []
    for name, part in histories.groupby("column", sort=False):
        table = learning_curves(part)
        order = {key: at for at, key in enumerate(chosen)}
        key = table["task"].astype(str) + "/" + table["design"].astype(str)
        table = table.assign(label=key.map(labels), at=key.map(order))
        table = table.sort_values(["at", "epoch"], kind="stable")
        title = str(name).replace("_", " ", 1)
        panels.append(Panel(title, figures.learning(table, title), (), choice=title))
    if not panels:
        return None
    ranked = sum(row.get("rank") is not None for row in view.leaderboard.rows)
    words = ["Mean over repeats; the band goes from the least to the largest of them."]
    if len(chosen) < ranked:
        words.append(f"The best {len(chosen)} of {counted(ranked, 'design')} have curves here.")
    if histories["thinned"].any():
        words.append(f"Of long trainings {_EPOCHS} epochs are drawn.")
    known = {key: labels[key] for key in chosen}
    return Section("curves", "Learning curves", words, panels, data=known)


def _histories(view: View, metrics: Metrics, chosen: Mapping[str, Row]) -> pd.DataFrame:
    trials: dict[str, list[Row]] = {}
    for record in view.records:
        key = f"{record['task']}/{record['design']}"
        if key in chosen and record["status"] == "done":
            trials.setdefault(key, []).append(record)
    parts = [part for key in chosen for part in _design(view, trials.get(key, ()), metrics)]
    columns = ["task", "design", "trial", "thinned", "epoch", "column", "value"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _design(view: View, records: Sequence[Row], metrics: Metrics) -> Iterator[pd.DataFrame]:
    """The histories of a design's repeats; all are thinned alike, so that their epochs meet."""
    some = records[:_REPEATS]
    histories = [(read_history(view.folder, record["trial"]), record) for record in some]
    longest = max((len(history.get("epoch", ())) for history, _ in histories), default=0)
    every = max(1, -(-longest // _EPOCHS))
    for history, record in histories:
        metric, _ = metrics[record["task"]]
        wanted = (f"val_{metric}", f"train_{metric}", "val_loss", "train_loss")
        columns = {name: history[name][::every] for name in wanted if name in history}
        if columns and history["epoch"]:
            same = {key: record[key] for key in ("task", "design", "trial")}
            frame = pd.DataFrame({"epoch": history["epoch"][::every], **columns})
            frame = frame.assign(**same, thinned=every > 1)
            yield frame.melt([*same, "thinned", "epoch"], var_name="column")
