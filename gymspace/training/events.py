"""TensorBoard events of a trial: its curves and its row of the HParams table, in one run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from gymspace.results import hparams
from gymspace.results.board import curve


class Events:
    """Writes a trial's events to its folder; those of an earlier attempt are removed."""

    def __init__(self, folder: Path):
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        self._folder = folder
        self._writer = SummaryWriter(str(folder), flush_secs=10)

    def epoch(self, row: Mapping[str, float]) -> None:
        """Add one epoch: ``val_accuracy`` becomes the tag ``accuracy/val``, one chart a metric."""
        step = int(row["epoch"])
        self._writer.add_scalar("lr", row["lr"], step)
        for name, value in row.items():
            if "_" in name:
                self._writer.add_scalar(curve(name), value, step)

    def finish(self, choices: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Add the scores of the best epoch, and the trial's row of the HParams table."""
        for name, value in hparams.scores(result).items():
            self._writer.add_scalar(name, value, result["best_epoch"])
        hparams.write_session(self._folder, hparams.row(choices, result), result)

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()
