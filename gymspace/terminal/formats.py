"""Tables in the formats of other programs: CSV, JSON, LaTeX, Markdown."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gymspace.results.cells import NULL, Cell, to_text
from gymspace.results.names import TEXT
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.forms import plain

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"<": "$<$", ">": "$>$", "±": r"$\pm$"}
_TEX |= {"█": r"\rule{0.5em}{1.4ex}"}  # a bar, of blocks that touch
_ROUNDING = 1e-12  # relative: equal scores whose mean is not quite them do not differ


@dataclass(frozen=True)
class Shown:
    """A cell for the eye: its text, its standard deviation, whether it is the best."""

    text: str
    spread: str = ""
    bold: bool = False


def shown(sheet: Sheet, columns: Sequence[Column]) -> list[list[Shown]]:
    """The rows of a sheet for the eye, under the given columns."""
    frame = sheet.shown
    by_column = [_column(frame, column, sheet.group) for column in columns]
    return [list(row) for row in zip(*by_column, strict=True)]


def csv_text(answer: Answer) -> str:
    """The first table as CSV, every value whole; `results.frames.read_table` restores the types.

    An answer without tables, as of a sweep in which nothing failed, is no text at all.
    """
    frame = next(iter(_tables(answer).values()), None)
    if frame is None:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    for row in _cells(frame):
        writer.writerow(
            [_csv_cell(str(name), cell) for name, cell in zip(frame.columns, row, strict=True)]
        )
    return text.getvalue()


def json_text(answer: Answer) -> str:
    """All tables and words as JSON; an empty cell is left out, the choice null is null."""
    tables = {
        name: [
            {
                str(k): _json_cell(cell)
                for k, cell in zip(frame.columns, row, strict=True)
                if cell is not None
            }
            for row in _cells(frame)
        ]
        for name, frame in _tables(answer).items()
    }
    whole = {"about": answer.head, "tables": tables, "words": list(answer.words)}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def markdown_text(answer: Answer) -> str:
    """All tables as Markdown (pipes), best values bold, words below."""
    parts = []
    for sheet in _for_the_eye(answer):
        rule = ["---:" if column.side == "right" else "---" for column in sheet.columns]
        head = [_markdown(column.title) for column in sheet.columns]
        body = [[_markdown_cell(cell) for cell in row] for row in shown(sheet, sheet.columns)]
        lines = [f"| {' | '.join(row)} |" for row in (head, rule, *body)]
        parts += [*([_markdown(sheet.title), ""] if sheet.title else []), *lines, ""]
    return "\n".join([*parts, *(f"- {_markdown(word)}" for word in answer.words)]).rstrip() + "\n"


def latex_text(answer: Answer) -> str:
    """All tables as LaTeX for the package booktabs, best values bold, words as comments."""
    parts = []
    for sheet in _for_the_eye(answer):
        sides = "".join("r" if column.side == "right" else "l" for column in sheet.columns)
        head = " & ".join(_latex(column.title) for column in sheet.columns)
        body = [" & ".join(map(_latex_cell, row)) + r" \\" for row in shown(sheet, sheet.columns)]
        table = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        parts += [f"% {sheet.title}"] if sheet.title else []
        parts += [*table, *body, r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([*parts, *(f"% {word}" for word in answer.words)]).rstrip() + "\n"


FORMATS: Mapping[str, Callable[[Answer], str]] = {
    "csv": csv_text,
    "json": json_text,
    "latex": latex_text,
    "markdown": markdown_text,
}


def _tables(answer: Answer) -> dict[str, pd.DataFrame]:
    """Whole frames by name; parts of one table below each other, columns for the eye left out."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for sheet in answer.sheets:
        hidden = [name for name in sheet.frame if str(name).startswith("_")]
        parts.setdefault(sheet.name, []).append(sheet.frame.drop(columns=hidden))
    return {
        name: frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
        for name, frames in parts.items()
    }


def _for_the_eye(answer: Answer) -> list[Sheet]:
    return [sheet for sheet in answer.sheets if sheet.columns]


def _cells(frame: pd.DataFrame) -> list[list[Cell]]:
    return [list(map(plain, row)) for row in frame.itertuples(index=False, name=None)]


def _column(frame: pd.DataFrame, column: Column, group: str | None) -> list[Shown]:
    values = [plain(value) for value in frame[column.name]]
    spreads = [plain(value) for value in frame[column.spread]] if column.spread in frame else []
    bold = _best(frame, column, group)
    texts = [column.form(value) for value in values]
    if column.name == group:
        texts = [t if not i or t != texts[i - 1] else "" for i, t in enumerate(texts)]
    stds = spreads or [None] * len(texts)
    return [
        Shown(text, _spread(column, value, std), is_bold)
        for text, value, std, is_bold in zip(texts, values, stds, bold, strict=True)
    ]


def _spread(column: Column, value: Any, std: Any) -> str:
    if value is None or std is None:
        return ""
    return column.form(0.0 if std < _ROUNDING * abs(value) else std)


def _best(frame: pd.DataFrame, column: Column, group: str | None) -> list[bool]:
    if column.best is None:
        return [False] * len(frame)
    values = pd.to_numeric(frame[column.name]).astype("Float64")
    parts = values.groupby(frame[group]) if group else values.groupby([0] * len(frame))
    return values.eq(parts.transform(column.best)).fillna(False).tolist()


def _csv_cell(name: str, cell: Cell) -> str:
    return (str(cell) if cell is not None else "") if name in TEXT else to_text(cell)


def _json_cell(cell: Cell) -> Any:
    if isinstance(cell, float) and cell in (float("inf"), float("-inf")):
        return None
    return None if cell is NULL else cell


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _markdown_cell(cell: Shown) -> str:
    text = _markdown(cell.text)
    spread = f" ± {cell.spread}" if cell.spread else ""
    return f"**{text}**{spread}" if cell.bold else f"{text}{spread}"


def _latex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in text.replace("\n", " "))


def _latex_cell(cell: Shown) -> str:
    text = _latex(cell.text)
    spread = rf" $\pm$ {_latex(cell.spread)}" if cell.spread else ""
    return rf"\textbf{{{text}}}{spread}" if cell.bold else f"{text}{spread}"
