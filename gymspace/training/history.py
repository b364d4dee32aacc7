"""The history of a trial: one CSV row for each evaluated epoch, written as it happens."""

import csv
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType


class History:
    """Rows kept in memory and in a file; an earlier file of the trial is begun anew."""

    def __init__(self, path: Path):
        self._file = path.open("w", newline="", buffering=1)
        self._writer: csv.DictWriter | None = None
        self.rows: list[dict[str, float]] = []

    def add(self, row: Mapping[str, float]) -> None:
        """Append an epoch."""
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(row), lineterminator="\n")
            self._writer.writeheader()
        self._writer.writerow(row)
        self.rows.append(dict(row))

    def __enter__(self) -> "History":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
