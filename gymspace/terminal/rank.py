"""The choices of each dimension, ranked where all else is equal."""

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gymspace.analysis.ranking import Ranking, rank, rank_all, sentences, single, summary
from gymspace.analysis.significance import Correction, effects, posthoc
from gymspace.analysis.study import Study
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.forms import count, decimal, level, p_value, score, share
from gymspace.terminal.headline import counted, headline
from gymspace.terminal.units import units

_ALPHA = 0.05


@dataclass(frozen=True)
class How:
    """How groups are ranked, and p values corrected."""

    tolerance: float = 0.0
    per_repeat: bool = False
    incomplete: bool = False
    correction: Correction = "holm"

    @property
    def options(self) -> dict[str, Any]:
        """As `analysis.ranking.rank` takes it."""
        repeats = "each" if self.per_repeat else "mean"
        return {"tolerance": self.tolerance, "repeats": repeats, "complete": not self.incomplete}


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    measuring(parser)
    parser.add_argument("--dimension", metavar="NAME", help="one dimension, in detail")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, metavar="T", help="scores that close are a tie (0)"
    )
    parser.add_argument("--per-repeat", action="store_true", help="a group is a repeat, not a mean")
    parser.add_argument(
        "--incomplete", action="store_true", help="rank groups that lack a choice as well"
    )
    parser.add_argument("--correction", choices=("holm", "bonferroni"), default="holm")


def run(asked: Namespace) -> None:
    """Print the answer."""
    view = pick(asked)
    study = pick_study(asked, view)
    how = How(asked.tolerance, asked.per_repeat, asked.incomplete, asked.correction)
    if asked.dimension is None:
        write(asked, overview(study, how, headline(view)))
    else:
        write(asked, detail(study, asked.dimension, how, headline(view)))


def overview(study: Study, how: How, head: str = "") -> Answer:
    """All dimensions that can be ranked, in one table."""
    rankings = rank_all(study, **how.options)
    table = summary(rankings, how.correction)
    said = list(_groups(study, rankings.values(), how))
    skipped = ", ".join(
        study.alias(name) for name in study.dimensions if _lost(study, name, rankings)
    )
    said += [f"not ranked, no group has all choices: {skipped}"] if skipped else []
    said += single(study)
    tests = "/".join({one.test.name: 0 for one in rankings.values() if one.test.groups > 1})
    over = f"corrected for {counted(len(rankings), 'dimension')} ({how.correction.capitalize()})"
    said += [f"p: {tests} over complete groups, {over}" if tests else "no test: too few groups"]
    unsure = table.loc[table["p_corrected"] > _ALPHA, "dimension"]
    alike = ", ".join(study.alias(name) for name in dict.fromkeys(unsure))
    said += [f"choices are not told apart (p > {_ALPHA}): {alike}"] if alike else []
    return Answer(head, (_choices(study, table),), tuple(said))


def detail(study: Study, dimension: str, how: How, head: str = "") -> Answer:
    """One dimension: ranks, how they are spread, differences between choices, tasks."""
    one = rank(study, dimension, **how.options)
    sheets = [_choices(study, summary({one.dimension: one}, how.correction)), _spread(one)]
    said = list(_groups(study, [one], how))
    test = one.test
    if test.groups > 1:
        pairs = _pairs(one, how.correction)
        sheets.append(_differences(study, pairs))
        said += list(_tests(one, pairs, how.correction))
    else:
        said += ["no test: fewer than two complete groups"]
    if len(study.scores) > 1:
        sheets.append(_tasks(study, one))
    return Answer(head, tuple(sheets), tuple(said))


def _groups(study: Study, rankings: Collection[Ranking], how: How) -> Iterator[str]:
    """What the ranks rest on, and what they do not."""
    used = sorted({one.used for one in rankings})
    span = f"{used[0]:,}" if len(used) == 1 else f"{used[0]:,} to {used[-1]:,}"
    what = "with a repeat of its own each" if how.per_repeat else "of means over repeats"
    tie = f"; scores within {how.tolerance:g} tie" if how.tolerance else ""
    yield f"rank 1 is best; {span} groups per dimension in which all else is equal, {what}{tie}"
    partial = sum(one.partial for one in rankings)
    fate = ", ranked as they are" if how.incomplete else ", dropped"
    yield f"groups that lack a choice: {partial:,}{fate if partial else ''}"
    alone = sum(one.alone for one in rankings)
    if alone:
        yield f"{counted(alone, 'repeat' if how.per_repeat else 'mean')} without a partner, dropped"
    yield from sentences(study, rankings)


def _lost(study: Study, name: str, rankings: Mapping[str, Ranking]) -> bool:
    return name not in rankings and len(study.levels[name].values) > 1


def _choices(study: Study, table: pd.DataFrame) -> Sheet:
    unit = units(study)
    made = table.assign(score=unit.of(table["gain"])).drop(columns="gain")
    columns = (
        Column("dimension", "dimension", study.alias, "left"),
        Column("choice", "choice", level, "fold"),
        Column("average_rank", "avg rank", decimal(3), best="min"),
        Column("first", "first", share),
        Column("sole", "alone", share, role="spare"),
        Column("score", unit.title, score),
        Column("groups", "groups", count),
        Column("p_corrected", "p", p_value),
    )
    return Sheet("ranks", made, columns, group="dimension")


def _spread(one: Ranking) -> Sheet:
    found = one.distribution
    ranks = {f"rank {value:g}": found[value].to_numpy() for value in found.columns}
    frame = pd.DataFrame({"choice": pd.Series(list(found.index), dtype=object), **ranks})
    shares = (Column(name, name, share) for name in ranks)
    columns = (Column("choice", "choice", level, "fold"), *shares)
    return Sheet("distribution", frame, columns, "share of groups at each rank")


def _pairs(one: Ranking, correction: Correction) -> pd.DataFrame:
    """Paired differences with the p of each pair; of two choices that is the test itself."""
    groups = one.matched.only(one.matched.complete)
    table = effects(groups)
    if len(groups.choices) == 2:
        return table.assign(p=one.test.p)
    found = posthoc(groups, "conover", correction).to_numpy()
    return table.assign(p=found[np.triu_indices(len(groups.choices), 1)])


def _differences(study: Study, pairs: pd.DataFrame) -> Sheet:
    columns = (
        Column("choice", "choice", level, "fold"),
        Column("other", "other", level, "fold"),
        Column("difference", "difference", score),
        Column("low", "low", score),
        Column("high", "high", score),
        Column("better", "better in", share),
        Column("p", "p", p_value),
    )
    title = f"differences in {units(study).title} (positive: the first is better)"
    return Sheet("differences", pairs, columns, title)


def _tests(one: Ranking, pairs: pd.DataFrame, correction: Correction) -> Iterator[str]:
    test = one.test
    p = p_value(None if np.isnan(test.p) else test.p)
    agree = "" if np.isnan(test.w) else f", W {test.w:.2f} (1: all groups agree)"
    yield f"{test.name} over {counted(test.groups, 'complete group')}: p {p}{agree}"
    each = "Conover's test" if len(pairs) > 1 else f"{test.name}'s test"
    over = f", corrected for {len(pairs)} pairs ({correction.capitalize()})" * (len(pairs) > 1)
    yield f"low and high: 95% bootstrap over groups; p of a pair: {each}{over}"


def _tasks(study: Study, one: Ranking) -> Sheet:
    names = [level(choice) for choice in one.matched.choices]
    frame = one.by_task.reset_index().set_axis(["task", *names, "groups"], axis=1)
    columns = (
        Column("task", "task", lambda task: study.task_name(str(task)), "fold"),
        *(Column(name, name, decimal(2)) for name in names),
        Column("groups", "groups", count),
    )
    return Sheet("tasks", frame, columns, "average ranks per task")
