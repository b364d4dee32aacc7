"""Tables as pandas frames with nullable types, for notebooks and analysis."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gymspace.results.cells import Cell
from gymspace.results.names import TEXT
from gymspace.results.tables import Table, load_table


def frame(table: Table) -> pd.DataFrame:
    """The table with one type per column: boolean, Int64, Float64, string, or object for mixtures.

    An empty cell is ``pd.NA``; the choice null is `cells.NULL`, which a group-by keeps.
    """
    columns = {
        name: _column([row.get(name) for row in table.rows], text=name in TEXT)
        for name in table.columns
    }
    return pd.DataFrame(columns, index=range(len(table.rows)))


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV that `Table.csv` wrote, every value with its type, as `frame` gives it.

    Raises:
        ConfigError: there is no such file, or it is no table of this kind.
    """
    return frame(load_table(path))


def _column(cells: Sequence[Cell], text: bool) -> pd.Series:
    filled = [pd.NA if cell is None else cell for cell in cells]
    return pd.Series(filled, dtype="string" if text else _dtype(cells))


def _dtype(cells: Sequence[Cell]) -> str:
    kinds = {type(cell) for cell in cells if cell is not None}
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    if kinds == {str}:
        return "string"
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(-(2**63) <= number < 2**63 for number in numbers):
        return "Int64"
    if kinds in ({float}, {int, float}) and all(float(number) == number for number in numbers):
        return "Float64"
    return "object"
