"""A design as a user names it, and as one reads it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.terminal.forms import choice, plain


def find_design(study: Study, asked: str) -> str:
    """The design with this id, this place among the study's designs, or whose id starts so.

    Raises:
        ConfigError: none, or several.
    """
    known = ordered(study)
    ids = list(dict.fromkeys(known["design"]))
    if asked in ids:
        return asked
    if asked.isdigit() and 0 < int(asked) <= len(ids):
        if len(study.scores) > 1:
            problem = "each task has such a place; choose a task with --task, or give an id"
            raise ConfigError("design", problem, value=asked)
        return ids[int(asked) - 1]
    found = [name for name in ids if asked and name.startswith(asked)]
    if len(found) != 1:
        problem = f"{len(found)} designs start so" if found else f"no such design among {len(ids)}"
        near = found or ids
        raise ConfigError("design", problem, value=asked, choices=near if len(near) <= 12 else ())
    return found[0]


def ordered(study: Study) -> pd.DataFrame:
    """`Study.designs`, best first task by task: the place is that of the leaderboard."""
    keys = ["task", "gain", "design"]
    return study.designs.sort_values(keys, ascending=[True, False, True], kind="stable")


def describe(study: Study, designs: Sequence[str], all_of_it: bool = False) -> dict[str, str]:
    """Each design's id -> its choices in words; only those that differ, where they do."""
    table = study.frame[study.frame["design"].isin(list(designs))].drop_duplicates("design")
    rows: Mapping[str, dict] = {row["design"]: row for row in table.to_dict("records")}
    names = [n for n in study.dimensions if all_of_it or len(_cells(rows, n)) > 1]
    return {
        design: " ".join(
            f"{study.alias(n)}={choice(plain(rows[design][n]))}"
            for n in names or study.dimensions
            if plain(rows[design][n]) is not None
        )
        for design in designs
    }


def _cells(rows: Mapping[str, dict], name: str) -> set[str]:
    return {repr(plain(row[name])) for row in rows.values()}
