"""One answer in every format."""

import io
import json

import pandas as pd
import pytest
from rich.console import Console

from gymspace.results.cells import NULL
from gymspace.results.frames import read_table
from gymspace.terminal.answer import Answer, Column, Sheet, text_column
from gymspace.terminal.formats import csv_text, json_text, latex_text, markdown_text
from gymspace.terminal.forms import choice, level, p_value, score
from gymspace.terminal.text import print_answer


@pytest.fixture
def answer():
    choices = pd.Series([NULL, "a_b&c|d", None, 0.1], dtype=object)
    frame = pd.DataFrame(
        {
            "part": ["x", "x", "y", "y"],
            "choice": choices,
            "acc": [0.5, 0.75, 0.25, float("nan")],
            "std": [0.1, float("nan"), 1e-17, float("nan")],
            "_eye": [1, 2, 3, 4],
        }
    )
    columns = (
        text_column("part"),
        Column("choice", "choice_%", level, "left"),
        Column("acc", "acc", score, spread="std", best="max"),
        Column("_eye", "eye"),
    )
    return Answer("name  rest", (Sheet("t", frame, columns, "a title", group="part"),), ("a word",))


def test_csv_has_every_value_whole_and_typed(answer, tmp_path):
    """Field case B7."""
    (tmp_path / "t.csv").write_text(csv_text(answer))
    table = read_table(tmp_path / "t.csv")
    assert list(table) == ["part", "choice", "acc", "std"]
    assert list(table["choice"][:2]) == [NULL, "a_b&c|d"]
    assert table["choice"].isna().tolist() == [False, False, True, False]
    assert table["std"][2] == 1e-17


def test_json_is_strict_and_tells_null_from_empty(answer):
    found = json.loads(json_text(answer), parse_constant=pytest.fail)
    rows = found["tables"]["t"]
    assert rows[0]["choice"] is None
    assert "choice" not in rows[2]
    assert "acc" not in rows[3]
    assert found["words"] == ["a word"]


def test_latex_is_escaped_with_the_best_of_each_part_bold(answer):
    text = latex_text(answer)
    assert r"part & choice\_\% & acc & eye \\" in text
    assert r"x & null & 0.5000 $\pm$ 0.1000 & 1 \\" in text
    assert r" & a\_b\&c|d & \textbf{0.7500} & 2 \\" in text
    assert r"y & (empty) & \textbf{0.2500} $\pm$ 0.0000 & 3 \\" in text
    assert text.startswith("% a title\n\\begin{tabular}{llrr}\n\\toprule\n")
    assert text.endswith("% a word\n")


def test_markdown_keeps_its_columns(answer):
    lines = markdown_text(answer).splitlines()
    assert lines[2:4] == ["| part | choice_% | acc | eye |", "| --- | --- | ---: | ---: |"]
    assert r"|  | a_b&c\|d | **0.7500** | 2 |" in lines


def test_without_a_table_csv_is_empty_and_the_words_stay_elsewhere():
    nothing = Answer("name", (), ("no trial failed",))
    assert csv_text(nothing) == ""
    assert json.loads(json_text(nothing))["words"] == ["no trial failed"]


def test_a_bar_is_drawn_by_latex():
    """No sign outside ASCII is left for pdflatex."""
    frame = pd.DataFrame({"_bar": ["██"]})
    text = latex_text(Answer("", (Sheet("t", frame, (text_column("_bar", ""),)),)))
    assert text.isascii()
    assert text.count("\\rule") == 2


def test_sheets_of_one_name_are_one_table(answer):
    twice = Answer("", answer.sheets * 2)
    assert len(csv_text(twice).splitlines()) == 9


def test_no_colour_and_no_escape_where_it_is_piped(answer):
    file = io.StringIO()
    print_answer(answer, Console(file=file, width=80))
    assert "\x1b" not in file.getvalue()
    assert "0.5000 ± 0.1000" in file.getvalue()


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (choice, None, "-"),
        (choice, 0.1234567891, "0.1235"),
        (level, None, "(empty)"),
        (p_value, 1e-9, "<0.001"),
        (p_value, 0.04999, "0.050"),
        (score, None, "-"),
    ],
)
def test_forms(form, value, text):
    assert form(value) == text
