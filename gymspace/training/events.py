"""TensorBoard events of a trial: its curves and its row of the HParams table, in one run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

from gymspace.schema import Component


class Events:
    """Writes a trial's events to its folder; those of an earlier attempt are removed."""

    def __init__(self, folder: Path):
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        self._writer = SummaryWriter(str(folder), flush_secs=10)
        self._file = self._writer._get_file_writer()

    def epoch(self, row: Mapping[str, float]) -> None:
        """Add one epoch: ``val_accuracy`` becomes the tag ``accuracy/val``, one chart a metric."""
        step = int(row["epoch"])
        self._writer.add_scalar("lr", row["lr"], step)
        for name, value in row.items():
            split, _, metric = name.partition("_")
            if metric:
                self._writer.add_scalar(f"{metric}/{split}", value, step)

    def finish(self, choices: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Add the trial to the HParams table: its swept keys and seed, its best epoch's scores.

        ``add_hparams`` would open a second run for it, named by the time.
        """
        names = (f"{split}_{result['metric']}" for split in ("val", "test"))
        scores = {f"best/{n}": result[n] for n in names if result.get(n) is not None}
        for summary in hparams({**_cells(choices), "seed": result["seed"]}, scores):
            self._file.add_summary(summary)
        for name, value in scores.items():
            self._writer.add_scalar(name, value, result["best_epoch"])

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def _cells(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Values as HParams knows them: numbers as they are, all else as text (True would be 1)."""
    return {
        key: value
        if isinstance(value, int | float) and not isinstance(value, bool)
        else _text(value)
        for key, value in choices.items()
    }


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return Component.model_validate(value).label
    return value if isinstance(value, str) else json.dumps(value)
