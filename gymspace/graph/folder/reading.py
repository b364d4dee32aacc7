"""CSV and Parquet read block by block: some columns as text, the others as numbers."""

import csv
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from gymspace.graph.folder.numbers import is_number_like, is_text, numbers
from gymspace.graph.folder.problems import KEPT, Problems, shown

BLOCK = 1 << 24  # bytes of CSV, which bound what is held besides the result
ROWS = 1 << 16  # of Parquet


@dataclass(frozen=True, eq=False)
class Table:
    """``rows`` of a file: columns of ``text``, and ``numbers`` float32 [rows, width].

    ``broken`` are the records that are no rows, so that a row can be told by its line.
    """

    path: Path
    rows: int
    text: Mapping[str, pa.ChunkedArray]
    numbers: np.ndarray
    broken: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def cell(self, name: str, row: int) -> str:
        """A cell of text, as it is told."""
        cell = self.text[name][int(row)]
        return shown(cell) if cell.is_valid else "empty"

    def tell(
        self, rows: np.ndarray, text: Callable[[int], str], problems: Problems, more: int = 0
    ) -> None:
        """Add a problem for each of ``rows``, and count ``more``."""
        before = self.broken - np.arange(len(self.broken))
        kept = rows[:KEPT]
        records = kept + np.searchsorted(before, kept, side="right")
        for row, record in zip(kept.tolist(), records.tolist(), strict=True):
            problems.add(self.path, text(row), record)
        problems.count(self.path, len(rows) - len(kept) + more)


class UnreadableError(Exception):
    """A file that cannot be read at all; its message is the problem."""


def header(path: Path) -> list[str]:
    """Names of the columns, without the blanks around them.

    Raises:
        UnreadableError: an empty file, or one in another format.
    """
    return [name.strip() for name in _raw_header(path)]


def _raw_header(path: Path) -> list[str]:
    with _told(path):
        if path.suffix != ".csv":
            with _parquet(path) as file:
                return list(file.schema_arrow.names)
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(filter(None, csv.reader(file)), [])
    if not names:
        raise UnreadableError("is empty")
    return names


def read(path: Path, text: Sequence[str], numeric: Sequence[str], problems: Problems) -> Table:
    """The columns of ``path`` by name; what is no number in ``numeric`` is added to ``problems``.

    Raises:
        UnreadableError: the file ends in the middle, or is in another format.
    """
    names = {name.strip(): name for name in _raw_header(path)}
    wanted = {name: names[name] for name in (*text, *numeric)}
    broken: list[int] = []
    with _told(path):
        try:
            blocks = _blocks(path, list(wanted.values()))
            return _table(path, blocks, wanted, numeric, broken, problems)
        except pa.ArrowInvalid:  # rarely, so the rows of the right width are put together anew
            kept = _whole_rows(path, broken, problems)
            if not broken:
                raise
            blocks = _csv(pa.BufferReader(kept), list(wanted.values()))
            return _table(path, blocks, wanted, numeric, broken, problems)


def _table(
    path: Path,
    blocks: Iterator[pa.RecordBatch],
    wanted: Mapping[str, str],
    numeric: Sequence[str],
    broken: Sequence[int],
    problems: Problems,
) -> Table:
    """Collect the ``wanted`` columns (name -> name in the file) of all blocks."""
    texts: dict[str, list[Any]] = {name: [] for name in wanted if name not in numeric}
    parts: deque[np.ndarray] = deque()
    odd = {name: _Odd() for name in numeric}
    rows = 0
    for block in blocks:
        columns = {name: _trimmed(block.column(raw)) for name, raw in wanted.items()}
        for name, column in texts.items():
            column.append(_as_text(columns[name]))
        part = np.empty((block.num_rows, len(numeric)), dtype=np.float32)
        for n, name in enumerate(numeric):
            part[:, n] = odd[name].look(name, columns[name], rows)
        parts.append(part)
        rows += block.num_rows
    arrays = {name: pa.chunked_array(some, pa.large_string()) for name, some in texts.items()}
    joined = _joined(parts, rows, len(numeric))
    table = Table(path, rows, arrays, joined, np.array(broken, dtype=np.int64))
    for name, cells in odd.items():
        cells.tell(name, table, problems)
    return table


def _blocks(path: Path, names: list[str]) -> Iterator[pa.RecordBatch]:
    if path.suffix != ".csv":
        with _parquet(path) as file:
            yield from file.iter_batches(ROWS, columns=names)
    elif _has_rows(path):
        yield from _csv(str(path), names)


def _csv(source: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    # Without an invalid_row_handler: at the program's end a thread of Arrow may still hold it, and
    # abort the program because Python is gone.
    yield from pyarrow.csv.open_csv(
        source,
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        ),
    )


def _whole_rows(path: Path, broken: list[int], problems: Problems) -> bytes:
    """The CSV file ``path`` without its ``broken`` rows, which are told."""
    if path.suffix != ".csv":
        return b""
    kept = StringIO()
    write = csv.writer(kept).writerow
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = filter(None, csv.reader(file))
        header = next(rows)
        write(header)
        for record, cells in enumerate(rows):
            if len(cells) == len(header):
                write(cells)
                continue
            broken.append(record)
            text = f"has {len(cells)} cells, and the header {len(header)}"
            hint = ": is a quote left open?" if any("\n" in cell for cell in cells) else ""
            problems.add(path, text + hint, record)
    return kept.getvalue().encode()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Tell what readers raise as `UnreadableError`."""
    try:
        yield
    except (pa.ArrowInvalid, UnicodeDecodeError, csv.Error, OSError) as error:
        line = _undecodable(path) if path.suffix == ".csv" else None
        if line is not None:
            raise UnreadableError(f"is not in UTF-8 (line {line})") from error
        raise UnreadableError(f"cannot be read: {' '.join(str(error).split())}") from error


def _undecodable(path: Path) -> int | None:
    """The first line that is not in UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return None


def _has_rows(path: Path) -> bool:
    """Whether anything stands below the header: pyarrow wants it to end with a line break."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return sum(1 for _, line in zip(range(2), filter(str.strip, file), strict=False)) == 2


def _parquet(path: Path) -> pyarrow.parquet.ParquetFile:
    return pyarrow.parquet.ParquetFile(str(path), memory_map=True)


def _trimmed(column: Any) -> Any:
    """``column`` without blanks around text, and without text where nothing is left."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not is_text(column.type):
        return column
    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(column, ""), None, column)


def _as_text(column: Any) -> Any:
    """``column`` as text; whole numbers without a point, whatever their type."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = pc.all(pc.equal(pc.floor(column), column)).as_py()
        column = pc.cast(column, pa.int64(), safe=False) if whole else column
    try:
        return pc.cast(column, pa.large_string())
    except pa.ArrowNotImplementedError as error:
        raise UnreadableError(f"has a column of {column.type}, where text is needed") from error


def _joined(blocks: deque[np.ndarray], rows: int, width: int) -> np.ndarray:
    """All blocks as one, each let go as it is copied."""
    out = np.empty((rows, width), dtype=np.float32)
    at = 0
    while blocks:
        block = blocks.popleft()
        out[at : at + len(block)] = block
        at += len(block)
    return out


@dataclass(eq=False)
class _Odd:
    """Cells of a numeric column that are no finite numbers: the first by row, and how many."""

    cells: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0
    texts: int = 0
    blanks: int = 0

    def look(self, name: str, column: Any, start: int) -> np.ndarray:
        """The numbers of a block that begins at row ``start``, float32."""
        if not is_number_like(column.type):
            raise UnreadableError(f"column '{name}' is {column.type}, and a feature is a number")
        found = numbers(column)
        with np.errstate(over="ignore"):
            values = found.values.astype(np.float32)
        rows = np.flatnonzero(~np.isfinite(values))
        for row in rows[: KEPT - len(self.cells)]:
            cell = "empty" if found.empty[row] else shown(column[int(row)])
            self.cells.append((start + int(row), f"'{name}' is {cell}, not a finite number"))
        self.count += len(rows)
        self.texts += int(found.odd.sum())
        self.blanks += int(found.empty.sum())
        return values

    def tell(self, name: str, table: Table, problems: Problems) -> None:
        """Add a problem for each cell, or one for a column in which there is no number."""
        texts = dict(self.cells)
        rows = np.array(list(texts), dtype=np.int64)
        if self.texts and self.texts + self.blanks == table.rows:
            text = f"'{name}' is text, and a feature is a number: encode it (one column for each"
            text += f" value, as pandas.get_dummies does), or dataset.skip=[{name}]"
            table.tell(rows[:1], lambda _: text, problems)
        else:
            table.tell(rows, texts.__getitem__, problems, self.count - len(rows))
