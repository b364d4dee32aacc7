"""The folders of the guide: written as it shows them, checked, trained on to a leaderboard."""

import csv
import re
import shlex
from pathlib import Path

import pytest

from gymspace.graph.folder.__main__ import main
from tests.cli import Cli
from tests.sweep.launchers import Inside

PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "your_data.md").read_text()
BLOCKS = dict(re.findall(r'^``` { \.text title="([^"]+)" }\n(.*?)^```$', PAGE, re.M | re.S))
LINES = dict.fromkeys(PAGE.splitlines())
COMMANDS = [line for line in LINES if line.startswith("python -m gymspace ")]


@pytest.fixture
def folders(tmp_path):
    for name, text in BLOCKS.items():
        if name.endswith(".csv"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    return tmp_path


def test_the_check_prints_what_the_guide_says(folders, monkeypatch, capsys):
    monkeypatch.chdir(folders)
    assert main(["shops"]) == 0
    assert capsys.readouterr().out == BLOCKS["python -m gymspace.graph.folder shops"]
    assert main(["molecules"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] in COMMANDS


@pytest.mark.parametrize("command", [line for line in COMMANDS if "dataset=folder" in line])
def test_the_commands_of_the_guide_end_in_a_leaderboard(folders, command, monkeypatch, capsys):
    cli = Cli(folders, monkeypatch, capsys)
    tiny = ("train.epochs=2", "log.tensorboard=false", "model.dim_inner=8")
    ended = cli(*shlex.split(command)[3:], *tiny, make=Inside)
    assert (ended.code, ended.err) == (0, "")
    (path,) = (folders / "results").glob("*/leaderboard.csv")
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == (2 if " -m " in command.partition("gymspace")[2] else 1)
    assert all(float(row["val_accuracy_mean"]) >= 0 for row in rows)


def test_the_problems_of_the_guide_are_told_in_its_words(folders, monkeypatch, capsys):
    monkeypatch.chdir(folders / "shops")
    nodes = Path("nodes.csv").read_text().replace("east,4.0", "east,big").replace("mill,", "west,")
    Path("nodes.csv").write_text(nodes)
    edges = Path("edges.csv").read_text().replace("west,mill", "west,hill")
    Path("edges.csv").write_text(edges.replace("hill,mill", "hill,mil"))
    assert main(["."]) == 2
    (shown,) = re.findall(r"^``` { \.text }\n(nodes.*?)^```$", PAGE, re.M | re.S)
    assert capsys.readouterr().out.partition("problems:\n")[2] == shown
