"""Sections on the choices: how they rank, which dimensions matter, how all designs compare."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from gymspace.analysis import figures
from gymspace.analysis.fronts import pareto
from gymspace.analysis.importance import importance
from gymspace.analysis.levels import text
from gymspace.analysis.ranking import Ranking, single
from gymspace.analysis.ranking import summary as ranking_summary
from gymspace.analysis.study import Study, labels
from gymspace.errors import ConfigError
from gymspace.report.parts import Panel, Section, counted, listed, sheet

_TASKS = 12  # with a figure of their own
_POINTS = 1_500  # of a scatter plot
_LINES = 1_000  # of parallel coordinates
_COSTS = ("params", "seconds", "memory", "peak_memory", "gpu_memory")
_LEARNT = 400  # designs a forest is grown on
_POOR = 0.3  # out-of-bag R2


def rankings(study: Study, found: Mapping[str, Ranking]) -> Section:
    """Every dimension's choices ranked in matched groups (You et al. 2020, section 6)."""
    table = ranking_summary(found)
    corrected = dict(zip(table["dimension"], table["p_corrected"], strict=True))
    several = [key for key in study.dimensions if len(study.levels[key].values) > 1]
    skipped = [study.alias(key) for key in several if key not in found]
    words = [
        "Designs that differ in one dimension alone make a group; its choices are ranked in every "
        "group that has all of them. 1 is best. What is best on average is drawn strong."
    ]
    if skipped:
        words.append(f"Not ranked, for no group has all its choices: {listed(skipped)}.")
    words += [f"{sentence}." for sentence in single(study)]
    panels = [
        Panel(
            study.alias(key),
            figures.ranks(ranking),
            _rank_words(ranking, corrected[key]),
            (sheet("In numbers", _rank_numbers(study, ranking)), *_by_task(study, ranking)),
        )
        for key, ranking in found.items()
    ]
    return Section("choices", "Design choices, ranked", words, panels)


def _rank_words(ranking: Ranking, p: float) -> list[str]:
    parts = [f"{counted(ranking.used, 'group')} ranked"]
    parts += [f"{ranking.partial:,} incomplete dropped"] if ranking.partial else []
    parts += [f"{counted(ranking.alone, 'mean')} without a partner"] if ranking.alone else []
    words = ["; ".join(parts) + "."]
    if np.isfinite(p):
        small = "< 0.001" if p < 0.001 else f"= {p:.3f}"
        words.append(f"{ranking.test.name}: p {small} (Holm), W = {ranking.test.w:.2f}.")
    return words


def _rank_numbers(study: Study, ranking: Ranking) -> pd.DataFrame:
    names = {"choice": study.alias(ranking.dimension), "gain": "mean", "first": "share first"}
    names |= {"sole": "alone first", "lacking": "groups without it"}
    table = ranking.choices.drop(columns="groups").rename(columns=names)
    low = not all(score.high for score in study.scores.values())
    return table.drop(columns="mean") if low else table  # gains of losses are negated


def _by_task(study: Study, ranking: Ranking) -> Iterator:
    if len(ranking.by_task) > 1:
        table = ranking.by_task.reset_index()
        names = table["task"].map(lambda task: study.task_name(str(task)))
        table.columns = pd.Index([text(name) for name in table.columns], dtype=object)
        yield sheet("Average ranks per task", table.assign(task=names), digits=2)


def important(study: Study) -> Section:
    """Which dimensions explain the scores (fANOVA on a forest)."""
    found = importance(study, "fanova", most=_LEARNT)
    words = [
        "How much of the variance between designs each dimension explains by itself (fANOVA, "
        "Hutter et al. 2014); the rest is interactions and noise."
    ]
    over = counted(found.designs, "design")
    if found.used < found.designs:
        over = f"{found.used:,} of {over}, drawn at random (the command `importance` takes more)"
    said = [f"From {over}; out-of-bag R² of the forest {found.r2:.2f}."]
    if found.r2 < _POOR:
        said.append("The forest predicts poorly: these shares mean little.")
    names = {key: study.alias(key) for key in study.dimensions}
    numbers = found.table.assign(dimension=found.table["dimension"].map(names))
    panel = Panel(
        "importance", figures.importances(found.table, names), said, [sheet("In numbers", numbers)]
    )
    return Section("importance", "Which dimensions matter", words, [panel])


def trade_offs(study: Study) -> Section:
    """Score against what designs cost, one figure per task and cost.

    Raises:
        ConfigError: no cost was measured.
    """
    designs = study.designs
    costs = [name for name in _COSTS if name in designs and designs[name].nunique() > 1]
    if not costs:
        raise ConfigError("params", "all designs have the same, and nothing else was measured")
    panels = [_trade_off(study, part, cost) for task, part in _tasks(study) for cost in costs]
    words = ["A design is on the front if no other is as good for less."]
    return Section("trade-offs", "Score and cost", [*words, *_not_all(study)], panels)


def _trade_off(study: Study, designs: pd.DataFrame, cost: str) -> Panel:
    task = str(designs["task"].iloc[0])
    there = designs[designs[cost].notna().to_numpy(dtype=bool)]
    on = pareto(there, {"gain": "max", cost: "min"})
    kept = _drawn(len(there), np.flatnonzero(on), _POINTS)
    some, shown = there.iloc[kept], on[kept]
    verb = "is" if on.sum() == 1 else "are"
    words = [f"{on.sum():,} of {counted(len(there), 'design')} {verb} on the front."]
    if len(some) < len(there):
        words.append(f"Of the others {len(some) - int(on.sum()):,}, drawn at random, are shown.")
    said = labels(_short(study, some), [study.alias(key) for key in study.dimensions], named=True)
    metric = study.scores[task].column.replace("_", " ", 1)
    figure = figures.trade_off(some, shown, cost, metric, list(said))
    front = some[shown].sort_values(cost)
    columns = {"design": labels(_short(study, front), _names(study), named=True).to_numpy()}
    numbers = pd.DataFrame({**columns, cost: front[cost].to_numpy(dtype=float)})
    numbers = numbers.assign(**{metric: front["score"].to_numpy(dtype=float)})
    choice = f"{study.task_name(task)}: {cost}" if len(study.scores) > 1 else cost
    return Panel(choice, figure, words, [sheet("The front in numbers", numbers)], choice)


def all_designs(study: Study) -> Section:
    """Parallel coordinates of the designs, one figure per task."""
    dimensions = [key for key in study.dimensions if len(study.levels[key].values) > 1]
    panels = []
    for task, designs in _tasks(study):
        best = np.argsort(-designs["gain"].to_numpy(dtype=float), kind="stable")[: _LINES // 2]
        some = designs.iloc[_drawn(len(designs), best, _LINES)].sort_values("gain")
        words = [f"{counted(len(designs), 'design')}."]
        if len(some) < len(designs):
            rest = len(some) - len(best)
            words = [
                f"{len(some):,} of {len(designs):,} designs: the best {len(best)}, and {rest} "
                "of the others drawn at random."
            ]
        metric = study.scores[task].column.replace("_", " ", 1)
        figure = figures.parallel(some, dimensions, dict(study.aliases), metric)
        name = study.task_name(task)
        choice = name if len(study.scores) > 1 else ""
        width = 84 * (len(dimensions) + 1)
        panels.append(Panel(f"all designs {choice}".strip(), figure, words, (), choice, width))
    words = ["A line is a design. Drag along an axis to pick lines, tap the axis to let go."]
    return Section("designs", "All designs", [*words, *_not_all(study)], panels)


def _tasks(study: Study) -> list[tuple[str, pd.DataFrame]]:
    groups = study.designs.groupby("task", sort=False)
    return [(str(task), part) for task, part in groups][:_TASKS]


def _not_all(study: Study) -> list[str]:
    n = len(study.scores)
    return [f"The first {_TASKS} of {n} tasks have a figure."] if n > _TASKS else []


def _drawn(n: int, first: np.ndarray, most: int) -> np.ndarray:
    """Rows in order: the ``first``, and of the others so many by chance that there are ``most``."""
    others = np.setdiff1d(np.arange(n), first)
    count = min(len(others), max(most - len(first), 0))
    drawn = np.random.default_rng(0).choice(others, count, replace=False)
    return np.sort(np.concatenate([first, drawn]))


def _names(study: Study) -> list[str]:
    return [study.alias(key) for key in study.dimensions]


def _short(study: Study, designs: pd.DataFrame) -> pd.DataFrame:
    aliases: Mapping[str, str] = {key: study.alias(key) for key in study.dimensions}
    return designs[list(aliases)].rename(columns=aliases)
