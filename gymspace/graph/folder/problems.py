"""What is wrong with a folder, each thing with its file and line."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Of each file so many are kept; the others are counted.
KEPT = 1000
# Longer cells are cut where they are shown.
SHOWN = 40


@dataclass(frozen=True)
class Problem:
    """A problem, and where it is: a line as an editor shows it, a row of Parquet as pandas does."""

    file: str
    text: str
    place: int | None = None

    def __str__(self) -> str:
        word = "line" if self.file.endswith(".csv") else "row"
        where = self.file if self.place is None else f"{self.file} {word} {self.place}"
        return " ".join(f"{where}: {self.text}".split())


class Problems:
    """Collects problems while a folder is read; a record is a row of a file, counted from 0."""

    def __init__(self) -> None:
        self._found: dict[Path, list[tuple[int | None, str]]] = {}
        self._counts: Counter[Path] = Counter()

    def __len__(self) -> int:
        return self._counts.total()

    def add(self, path: Path, text: str, record: int | None = None) -> None:
        """Add a problem of the file ``path``."""
        self._counts[path] += 1
        found = self._found.setdefault(path, [])
        if len(found) < KEPT:
            found.append((record, text))

    def count(self, path: Path, more: int) -> None:
        """Add problems of which nothing is kept."""
        self._counts[path] += more

    def __iter__(self) -> Iterator[Problem]:
        """Those that were kept, file by file, in the order of their lines."""
        for path, found in self._found.items():
            found = sorted(found, key=lambda each: -1 if each[0] is None else each[0])
            places = _places(path, max((r for r, _ in found if r is not None), default=-1))
            for record, text in found:
                yield Problem(path.name, text, None if record is None else int(places[record]))


def _places(path: Path, last: int) -> Sequence[int]:
    """The line of each record up to number ``last``."""
    if path.suffix != ".csv" or last < 0:
        return range(last + 1)
    lines: list[int] = []
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader, before = csv.reader(file), 0
        with suppress(csv.Error):  # a cell without end
            for cells in reader:
                if cells:
                    lines.append(before + 1)
                before = reader.line_num
                if len(lines) > last + 1:
                    break
    # What lies behind a cell without end is told with the line where that begins.
    return [*lines[1:], *[before + 1] * (last + 2 - len(lines))]


def shown(cell: Any) -> str:
    """A cell in quotes, cut where it is long."""
    text = " ".join(str(cell).split())
    return f"'{text if len(text) <= SHOWN else text[:SHOWN] + '...'}'"
