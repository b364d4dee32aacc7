"""What the page on spaces shows: its experiments and its command lines."""

import re
import shlex
from itertools import islice
from pathlib import Path

import pytest
import yaml

from gymspace import registry, tables
from gymspace.spec import parse
from gymspace.sweep.plan import assemble
from gymspace.sweep.settings import split_config
from gymspace.sweep.spaces.space import constrain, parse_space
from tests.cli import Cli

PAGE = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
LINES = [
    line
    for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("text", BLOCKS, ids=range(len(BLOCKS)))
def test_an_experiment_of_the_page_has_the_designs_that_it_says(text):
    base, settings = split_config(yaml.safe_load(text))
    space = constrain(parse_space(settings.sweep.space), settings.sweep.constraints, base)
    said = re.match(r"# (\d+) designs", text)
    assert space.size == (int(said[1]) if said else None)
    draw = registry.build("sweep.draw", settings.sweep.draw, space)
    for assignment in islice(iter(draw.ask, None), 20):
        parse(assemble(assignment, base, {}, lambda chosen: base))


def test_every_draw_is_on_the_page():
    assert set(re.findall(r"^\| `(?:\{name: )?(\w+)", PAGE, re.MULTILINE)) == {
        *tables.DRAWS, "sweep",
    }  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_command_line_of_the_page_runs(line, tmp_path, monkeypatch, capsys):
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "gymspace"]
    first = Cli(tmp_path, monkeypatch, capsys).dry(*words[3:])[0]
    assert re.match(r"\d+( of \d+)? designs, ", first)
