"""How a single trial ended, in a few lines."""

from pathlib import Path

from rich.console import Console

from gymspace.records import RESULT, read_json
from gymspace.results import names
from gymspace.results.layout import note


def show_trial(folder: Path, console: Console, trial: str) -> None:
    """Print how one trial ended, its scores at its best epoch and where its files are."""
    path = folder / "trials" / trial
    result = read_json(path / RESULT)
    if result is None:
        return
    if result.get("status") != "done":
        console.print(f"{result.get('status')}: {result.get('error')}", markup=False)
    else:
        metric = result["metric"]
        scores = "  ".join(f"{split} {result[f'{split}_{metric}']:.4f}" for split in names.SPLITS)
        size = f"{result['params']:,} parameters, {result['seconds']:.1f} s"
        console.print(f"{metric} at epoch {result['best_epoch']}, the best one on validation:")
        console.print(f"  {scores}   ({size}, {result['split']})", highlight=False, soft_wrap=True)
    note(console, f"files in {path}")
