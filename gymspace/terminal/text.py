"""An answer in the terminal: it fits the width, and has no colour where it is piped."""

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gymspace.results.layout import Side, add, grid, note, print_fitting
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.formats import Shown, shown
from gymspace.terminal.plots import draw


def print_answer(answer: Answer, console: Console) -> None:
    """Print heading, plots, tables and words."""
    if answer.head:
        name, _, rest = answer.head.partition("  ")
        console.print(Text(name, style="bold").append(f"  {rest}" if rest else "", "not bold"))
    for sheet in answer.sheets:
        if not sheet.columns and sheet.plot is None:
            continue
        console.print()
        if sheet.title:
            console.print(Text(sheet.title, style="dim"))
        if sheet.plot is not None:
            console.print(draw(sheet.plot, console))
        if sheet.columns and len(sheet.frame):
            print_fitting(console, *_forms(sheet))
        more = len(sheet.frame) - len(sheet.shown) + sheet.more
        if more:
            note(console, f"  and {more:,} more")
    if answer.words:
        console.print()
    for word in answer.words:
        for line in wrap(word, console.width, break_long_words=False, break_on_hyphens=False):
            note(console, line)


def _forms(sheet: Sheet) -> list[Table]:
    """The whole table, then narrower ones: choices folded, then without what can be spared."""
    whole = list(sheet.columns)
    choices = [column for column in whole if column.role == "choice"]
    lean = [column for column in whole if column.role != "spare"]
    if not choices:
        return [_table(sheet, form) for form in (whole, lean)]
    return [_table(sheet, whole), _folded(sheet, whole), _folded(sheet, lean)]


def _table(sheet: Sheet, columns: Sequence[Column]) -> Table:
    rows = [[_text(cell) for cell in row] for row in shown(sheet, columns)]
    return _filled([(column.title, column.side) for column in columns], rows, _ends(sheet))


def _folded(sheet: Sheet, columns: Sequence[Column]) -> Table:
    """As `_table`, all choices in one column that wraps."""
    at = [i for i, column in enumerate(columns) if column.role == "choice"]
    rows = []
    for row in shown(sheet, columns):
        pairs = [f"{columns[i].title}={row[i].text}" for i in at if row[i].text != "-"]
        texts = [_text(cell) for cell in row]
        rows.append([*texts[: at[0]], Text(" ".join(pairs)), *texts[at[-1] + 1 :]])
    head: list[tuple[str, Side]] = [(column.title, column.side) for column in columns]
    head[at[0] : at[-1] + 1] = [("choices", "fold")]
    return _filled(head, rows, _ends(sheet))


def _filled(
    head: Sequence[tuple[str, Side]], rows: Sequence[Sequence[Text]], ends: Sequence[bool]
) -> Table:
    table = grid(*head)
    for row, last in zip(rows, ends, strict=True):
        add(table, *row, last=last)
    return table


def _ends(sheet: Sheet) -> list[bool]:
    """Whether a row is the last of its part."""
    if sheet.group is None:
        return [False] * len(sheet.shown)
    part = sheet.shown[sheet.group]
    return [bool(end) for end in part.ne(part.shift(-1))]


def _text(cell: Shown) -> Text:
    text = Text(cell.text, style="bold" if cell.bold else "")
    return text.append(f" ± {cell.spread}", style="not bold dim") if cell.spread else text
