"""How a sweep shows its progress: a live panel on a terminal, plain lines elsewhere."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gymspace.dist.jobs import Done, Event, Failed, Finished, Progress, Started, Tick
from gymspace.records import Progress as Epoch
from gymspace.records import Run
from gymspace.schema import Component
from gymspace.sweep.plan import Trial

_LONG = 8  # characters of a float beyond which 4 digits are shown


class Display:
    """The observer of a sweep; also its context, which ends the live panel."""

    def __init__(self, console: Console):
        self.console = console
        self.tally = Tally()
        self.running: dict[int, tuple[Run, Epoch | None]] = {}
        self.live = Live(
            console=console, get_renderable=self._panel, refresh_per_second=4, transient=True
        )

    def planned(self, total: int, reused: Sequence[Mapping[str, Any]]) -> None:
        """Say how much there is to do."""
        self.tally = Tally(total, Counter(r["status"] for r in reused), len(reused))
        for result in reused:
            self.tally.consider(result)
        self._announce(total, "trial", len(reused))

    def sought(self, total: int, settled: int) -> None:
        """Count the designs of a search instead of trials."""
        if not self.tally.total:
            self.tally = Tally(total, reused=settled)
            self._announce(total, "design", settled)
        self.tally.settled = settled

    def _announce(self, total: int, unit: str, before: int) -> None:
        again = f", {before} of them finished before" if before else ""
        self.console.print(f"{total} {unit}{'s' * (total != 1)}{again}")

    def warned(self, text: str) -> None:
        """Print a warning."""
        self.console.print(Text(f"warning: {text}", style="yellow"), soft_wrap=True)

    def noted(self, text: str) -> None:
        """Print a line of long work."""
        self.console.print(text, style="dim", markup=False, soft_wrap=True)

    def happened(self, event: Event) -> None:
        """Follow a trial."""
        if isinstance(event, Tick) or not isinstance(run := event.job.payload, Run):
            return
        if isinstance(event, Started):
            self.running[event.slot] = (run, None)
        elif isinstance(event, Progress):
            self.running[event.slot] = (run, event.value)
        elif isinstance(event, Finished):
            self.running.pop(event.slot, None)
            self._finished(event, run)

    def _finished(self, event: Finished, run: Run) -> None:
        tally = self.tally
        if isinstance(event.outcome, Done):
            result = event.outcome.value
        else:
            late = not isinstance(event.outcome, Failed)
            result = {"status": "timeout" if late else "failed", "error": _reason(event.outcome)}
        if result["status"] != "paused":
            tally.finished(result)
        score = result.get(f"val_{result.get('metric')}")
        shown = f"val {score:.4f}" if score is not None else result.get("error") or ""
        line = f"[{tally.done}/{tally.total}] {result['status']:<8} {shown}  {label(run)}"
        if not self.console.is_terminal:
            left = f"  {tally.left()}" if tally.done < tally.total else ""
            self.console.print(f"{line}{left}", markup=False, soft_wrap=True)
        elif result["status"] != "done":
            self.console.print(line, style="red", markup=False)

    def __enter__(self) -> "Display":
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.live.stop()

    def _panel(self) -> RenderableType:
        tally = self.tally
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(tally.total, 1), completed=tally.done, width=30)
        head.add_row(bar, f"{tally.done}/{tally.total}", tally.left(), tally.best_text())
        rows = Table.grid(padding=(0, 2))
        for slot, (run, progress) in sorted(self.running.items()):
            at = f"epoch {progress.epoch + 1}/{progress.epochs}" if progress else "starting"
            value = f"val {progress.value:.4f}" if progress else ""
            rows.add_row(f"  worker {slot}", at, value, label(run))
        return Group(head, rows)


class Tally:
    """How many trials have ended, how, how fast, and which was the best."""

    def __init__(self, total: int = 0, statuses: Counter[str] | None = None, reused: int = 0):
        self.total = total
        self.statuses = statuses or Counter()
        self.reused = reused
        self.begun = time.monotonic()
        self.best: Mapping[str, Any] | None = None
        self.settled: int | None = None

    @property
    def done(self) -> int:
        """What has ended, one way or another: trials, or the designs of a search."""
        return sum(self.statuses.values()) if self.settled is None else self.settled

    def finished(self, result: Mapping[str, Any]) -> None:
        """Count a result."""
        self.statuses[result["status"]] += 1
        self.consider(result)

    def consider(self, result: Mapping[str, Any]) -> None:
        """Keep a result if it is the best so far."""
        if result["status"] != "done":
            return
        key = f"val_{result['metric']}"
        sign = 1 if result["direction"] == "max" else -1
        if self.best is None or sign * result[key] > sign * self.best[key]:
            self.best = result

    def best_text(self) -> str:
        """The best trial so far, and how many went wrong."""
        wrong = [f"{n} {status}" for status, n in sorted(self.statuses.items()) if status != "done"]
        if self.best is None:
            return "  ".join(wrong)
        score = self.best[f"val_{self.best['metric']}"]
        return "  ".join([f"best val {score:.4f}", *wrong])

    def left(self) -> str:
        """The time that the rest will take, by the pace so far."""
        run = self.done - self.reused
        if not run:
            return ""
        seconds = (time.monotonic() - self.begun) / run * (self.total - self.done)
        minutes, seconds = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02} left"


def label(trial: Trial | Run) -> str:
    """A trial's choices by the last part of their keys, its seed, and its fold unless 0."""
    parts = [f"{key.rpartition('.')[2]}={_cell(value)}" for key, value in trial.choices.items()]
    fold = [f"fold={trial.spec.fold}"] if trial.spec.fold else []
    return " ".join([*parts, f"seed={trial.spec.seed}", *fold])


def _cell(value: Any) -> Any:
    if isinstance(value, float) and len(repr(value)) > _LONG:
        return f"{value:.4g}"
    return Component.model_validate(value).label if isinstance(value, Mapping) else value


def _reason(outcome: Any) -> str:
    return outcome.error if isinstance(outcome, Failed) else f"after {outcome.seconds:g} s"
