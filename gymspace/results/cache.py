"""What was read of a large sweep, kept in a file of its folder so that it opens at once."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import accumulate, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from gymspace.records import write_atomic
from gymspace.results import designs
from gymspace.results.packed import Later, pack, pack_table, unpack, unpack_table
from gymspace.results.read import Reading, Record, read_again
from gymspace.results.tables import Row, Table, judges, leaderboard_table, trials_table
from gymspace.results.write import goals, repeats

FILE = ".read.json"
FEWEST = 500  # trials; fewer are read as quickly without
_CODE = ("spec.py", "schema.py", "registry.py", "tables.py", "records.py", "results/*.py")


@dataclass(frozen=True)
class Kept:
    """The trials of a sweep, what `sweep.json` says, and what follows from both."""

    reading: Reading
    sweep: Mapping[str, Any]
    varied: tuple[str, ...]
    metrics: tuple[str, ...]
    judges: Mapping[str, tuple[str, bool]]
    leaderboard: Table
    trials: Table

    @property
    def records(self) -> Sequence[Record]:
        """The finished trials, sorted by id."""
        return self.reading.records


def read_kept(folder: Path, sweep: Mapping[str, Any], write: bool = True) -> Kept:
    """Read a sweep's folder; what has not changed since it was last read comes from the cache.

    ``sweep`` is its `sweep.json`. The cache follows from the trials' files alone: each is known
    again by time of change, size and inode, and what other code wrote does not count. It may be
    deleted at any time; where it cannot be written, or is not to be, everything is read.

    Raises:
        ConfigError: ``folder`` is not the folder of a sweep.
    """
    known = _load(folder / FILE)
    kept = refreshed(folder, sweep, known)
    if write and kept is not known and len(kept.reading.stamps) >= FEWEST:
        _save(folder / FILE, kept)
    return kept


def refreshed(folder: Path, sweep: Mapping[str, Any], known: Kept | None) -> Kept:
    """What is in the folder now, given what was known before; the same object if nothing is new."""
    reading = read_again(folder, known.reading if known else None)
    if known and reading is known.reading and known.sweep == sweep:
        return known
    records = reading.records
    return Kept(
        reading,
        sweep,
        designs.gather(records).varied,
        tuple(designs.metrics(records)),
        judges(records),
        leaderboard_table(records, repeats(sweep), goals(sweep)),
        trials_table(records),
    )


def _save(path: Path, kept: Kept) -> None:
    """Write the cache, or not where that is impossible: nothing is lost without it."""
    specs = [record["spec"] for record in kept.records]
    bare = [{**record, "spec": None} for record in kept.records]
    tables = (kept.leaderboard, kept.trials)
    stamps = kept.reading.stamps
    parts = [
        [list(stamps), list(zip(*stamps.values(), strict=True))],
        [pack(bare), pack(specs)],
        *map(pack_table, tables),
    ]
    lines = [json.dumps(part, separators=(",", ":")) for part in parts]
    about = [kept.sweep, kept.varied, kept.metrics, kept.judges, len(bare)]
    sizes = [[table.columns, len(table.rows)] for table in tables]
    head = json.dumps([_code(), [len(line) for line in lines], about, sizes])
    text = "\n".join([head, *lines])  # of ASCII, as json writes it
    try:
        write_atomic(path, lambda part: part.write_text(text, encoding="ascii"))
    except OSError:
        return


def _load(path: Path) -> Kept | None:
    """What the cache holds; None if there is none that this code wrote and finished.

    Records and tables stay in the file until they are asked for.
    """
    try:
        with path.open("rb") as file:
            head = file.readline()
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
        code, lengths, about, sizes = json.loads(head)
        stops = list(accumulate((length + 1 for length in lengths), initial=len(head)))
        if code != _code() or stops[-1] != len(content) + 1:
            return None
        spans = [partial(_line, content, start, stop) for start, stop in pairwise(stops)]
        names, stamps = spans[0]()
    except (OSError, ValueError):
        return None
    sweep, varied, metrics, judged, size = about
    reading = Reading(
        dict(zip(names, zip(*stamps, strict=True), strict=True)),
        Later(size, partial(_records, spans[1])),
    )
    tables = (
        Table(tuple(columns), Later(rows, partial(_rows, span)))
        for (columns, rows), span in zip(sizes, spans[2:], strict=True)
    )
    by_task = {task: tuple(judge) for task, judge in judged.items()}
    return Kept(reading, sweep, tuple(varied), tuple(metrics), by_task, *tables)


def _line(content: mmap, start: int, stop: int) -> Any:
    return json.loads(content[start:stop])


def _records(read: Callable[[], Any]) -> list[Record]:
    bare, specs = map(unpack, read())
    return [{**record, "spec": spec} for record, spec in zip(bare, specs, strict=True)]


def _rows(read: Callable[[], Any]) -> list[Row]:
    return unpack_table(read())


@cache
def _code() -> str:
    """A digest of the code that the cache's contents follow from."""
    room = Path(__file__).parents[1]
    files = sorted(path for pattern in _CODE for path in room.glob(pattern))
    return sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
