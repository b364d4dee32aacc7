"""Which column of a file is what, by its name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from gymspace.graph.rows import PARTS

# What each file is linked by, and what of it must be there.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "nodes": ("id", "graph"),
        "edges": ("source", "target", "graph", "weight", "time"),
        "graphs": ("graph",),
    }
)
NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"nodes": (), "edges": ("source", "target"), "graphs": ("graph",)}
)
MASKS = tuple(f"{part}_mask" for part in PARTS)
_LABEL = re.compile(r"(y|label)(_.+)?")
_INDEX = re.compile(r"|__index_level_\d+__|Unnamed: \d+")
_SPLIT = re.compile(r"split(_.+)?")
# Other names under which people keep these.
_ALIASES = MappingProxyType(
    {"node_id": "id", "node": "id", "nodeid": "id", "graph_id": "graph", "graphid": "graph"}
    | {"src": "source", "from": "source", "dst": "target", "dest": "target", "to": "target"}
)


@dataclass(frozen=True)
class Options:
    """What the user says of the columns: ``label`` null are those named so, ``task`` null a guess.

    Columns of ``skip`` are left out of every file.
    """

    label: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    task: str | None = None


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a file by their use; the rest are features."""

    keys: tuple[str, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...]
    features: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every column."""
        return (*self.text, *self.features, *self.skipped)

    @property
    def text(self) -> tuple[str, ...]:
        """Columns that are read as text."""
        return (*self.keys, *self.labels, *self.splits)


def columns(names: Sequence[str], kind: str, options: Options) -> tuple[Columns, list[str]]:
    """The columns ``names`` of the file of nodes, edges or graphs; and what is wrong with them."""
    skipped = tuple(name for name in names if name in options.skip)
    names = [name for name in names if name not in skipped]
    keys = tuple(name for name in KEYS[kind] if name in names)
    rest = [name for name in dict.fromkeys(names) if name and name not in keys]
    wanted = options.label
    labels = tuple(n for n in rest if (_LABEL.fullmatch(n) if wanted is None else n in wanted))
    splits = tuple(n for n in rest if n not in labels and (_SPLIT.fullmatch(n) or n in MASKS))
    features = tuple(name for name in rest if name not in (*labels, *splits))
    found = Columns(keys, labels, splits, features, skipped)
    missing = [name for name in NEEDED[kind] if name not in keys]
    problems = _faults(names) or [_missing(name, rest) for name in missing]
    return found, problems or list(_misleading(found, kind, wanted is None))


def _faults(names: Sequence[str]) -> list[str]:
    if len(names) == 1 and (mark := next((m for m in ";\t|" if m in names[0]), None)):
        what = "tab" if mark == "\t" else mark
        return [f"has columns apart by '{what}': write them apart by commas"]
    problems = [f"has column '{n}' twice" for n in dict.fromkeys(names) if names.count(n) > 1 and n]
    if any(_INDEX.fullmatch(name) for name in names):
        problems.append("has a column without a name, as pandas writes an index: index=False")
    return problems


def _misleading(found: Columns, kind: str, guessed: bool) -> Iterator[str]:
    """What is wrong with names that would be taken for something else than is meant."""
    reserved = [name for name in KEYS[kind] if name not in found.keys]
    reserved += [] if found.labels else ["label"]
    reserved += [] if found.splits else ["split"]
    for name in found.features:
        if text := _near(name, reserved):
            yield text
        elif not guessed and _LABEL.fullmatch(name):
            hint = f"dataset.skip=[{name}], or another name"
            yield f"has '{name}', which is named like a label: {hint}"
    if guessed and {"y", "label"} <= set(found.labels):
        yield "has both 'y' and 'label': dataset.label says which is to be learnt"


def _near(name: str, reserved: Sequence[str]) -> str | None:
    """A line for a feature whose name looks like one that means something else."""
    low = name.lower().strip()
    close = get_close_matches(low, reserved, n=1, cutoff=0.85)
    meant = _ALIASES.get(low) or (close[0] if close else None)
    if meant not in reserved:
        return None
    return f"has column '{name}': did you mean '{meant}'? If it is a feature, give it another name"


def _missing(name: str, rest: Sequence[str]) -> str:
    """A line for a needed column that is not there."""
    near = next((other for other in rest if _near(other, [name])), None)
    hint = f"; did you mean '{near}'?" if near else ""
    return f"has no column '{name}', but {_listed(rest)}{hint}"


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more
