"""Designs that no other beats in all that is asked of them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import pandas as pd

from gymspace.analysis.fronts import Direction, front
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.results.names import more_is_better
from gymspace.terminal.answer import Answer, Column, Plot, Sheet
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.forms import choice, count, number_of, score, words
from gymspace.terminal.headline import counted, headline
from gymspace.terminal.units import left_out, units


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    measuring(parser)
    parser.add_argument(
        "--against",
        action="append",
        metavar="COLUMN",
        help="what else counts: params (the default), seconds, COLUMN:max...; may be repeated",
    )


def run(asked: Namespace) -> None:
    """Print the answer."""
    view = pick(asked)
    study = pick_study(asked, view)
    write(asked, answer(study, objectives(asked.against or ["params"]), headline(view)))


def objectives(asked: Sequence[str]) -> dict[str, Direction]:
    """Columns, each with what of it is better; ``:max`` or ``:min`` says so.

    Raises:
        ConfigError: another word behind the colon.
    """
    found: dict[str, Direction] = {}
    for text in asked:
        name, _, way = text.partition(":")
        if way not in ("", "max", "min"):
            raise ConfigError("--against", "ends in neither :max nor :min", value=text)
        found[name] = way or ("max" if more_is_better(name) else "min")  # type: ignore[assignment]
    return found


def answer(study: Study, against: dict[str, Direction], head: str = "") -> Answer:
    """The fronts, task by task, with a plot against the first of the objectives."""
    unit = units(study)
    whole = front(study, against)
    sheets = []
    for task, part in whole.groupby("task", sort=False):
        every = study.of(str(task)).designs
        made = part.reset_index(drop=True)
        name = f"{study.task_name(str(task))}: " if len(study.scores) > 1 else ""
        verb = "is" if len(made) == 1 else "are"
        title = f"{name}{len(made)} of {counted(len(every), 'design')} {verb} on the front"
        plot = _plot(every, made, unit.title, unit.sign, next(iter(against)))
        sheets.append(
            Sheet(
                "front", made.drop(columns="gain"), _columns(study, made, against), title, plot=plot
            )
        )
    aims = ", ".join(f"{name} {way}" for name, way in against.items())
    said = [f"on the front: no design is as good in {unit.title} and {aims}, and better in one"]
    return Answer(head, tuple(sheets), (*said, *left_out(study)))


def _columns(study: Study, part: pd.DataFrame, against: dict[str, Direction]) -> tuple[Column, ...]:
    varied = [name for name in study.dimensions if part[name].map(repr).nunique() > 1]
    return (
        Column("design", "design", words, "left", role="spare"),
        *(Column(name, study.alias(name), choice, "left", role="choice") for name in varied),
        Column("score", units(study).title, score, spread="std"),
        *(Column(name, name, number_of) for name in against),
        Column("n", "repeats", count, role="spare"),
    )


def _plot(every: pd.DataFrame, part: pd.DataFrame, title: str, sign: int, against: str) -> Plot:
    """All designs as 1, those on the front as 2."""
    points = [
        pd.DataFrame({"series": at, "x": some[against].astype(float), "y": sign * some["gain"]})
        for at, some in enumerate((every, part))
    ]
    data = pd.concat(points, ignore_index=True).astype({"y": float}).dropna()
    return Plot(data, against, title, joined=False, marks="·#")
