"""What a report says of a sweep: facts, warnings, sections, and what is left out and why."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gymspace.analysis.load import view_study
from gymspace.analysis.ranking import Ranking, rank_all, sentences
from gymspace.analysis.study import Study
from gymspace.analysis.variance import distinguishable, warnings
from gymspace.errors import ConfigError
from gymspace.report import about, choices
from gymspace.report.board import leaderboard
from gymspace.report.curves import curves, with_curves
from gymspace.report.parts import Section, cell, counted, words
from gymspace.results.tables import Row
from gymspace.results.view import View


@dataclass(frozen=True)
class Page:
    """What the template shows: facts at the top, warnings, sections, what is left out and why."""

    title: str
    facts: tuple[str, ...]
    best: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    missing: tuple[str, ...]


def compose(view: View, sweep: Mapping[str, Any], metric: str | None = None) -> Page:
    """Work out everything that a report says of a sweep.

    Raises:
        ConfigError: no trial has finished, or there is no such metric.
    """
    if not view.records:
        waiting = f" ({view.unfinished} unfinished)" if view.unfinished else ""
        raise ConfigError("results", f"has no finished trial yet{waiting}", value=view.folder)
    metrics = view.judges
    missing: list[str] = []
    study = _study(view, metric, missing)
    tasks = study.tasks if study else {task: task for task in metrics}
    curved = with_curves(view, metrics)
    labels = {key: label(view, row) for key, row in curved.items()}
    drawn = curves(view, metrics, curved, labels)
    board = leaderboard(view, metrics, tasks, drawn.data if drawn else ())
    rankings = _rankings(study, missing) if study else {}
    ranked = list(_analyses(study, rankings, missing)) if study else []
    if drawn is None:
        missing.append("Learning curves: no design that is done has a history.")
    parts = (board, *ranked, drawn, about.failures(view), about.made(view, sweep))
    return Page(
        view.folder.resolve().name,
        tuple(_facts(view)),
        tuple(_best(view, metrics, tasks)),
        (*_asked(metric), *_warnings(view, study, rankings)),
        tuple(part for part in parts if part is not None),
        tuple(missing),
    )


def label(view: View, row: Row) -> str:
    """A design's choices in words."""
    return words({alias: row.get(name) for name, alias in view.aliases.items()})


def _study(view: View, metric: str | None, missing: list[str]) -> Study | None:
    try:
        return view_study(view, metric)
    except ConfigError as error:
        if metric is not None:
            raise
        missing.append(f"Rankings, importance, trade-offs: {error}.")
        return None


def _rankings(study: Study, missing: list[str]) -> dict[str, Ranking]:
    try:
        return rank_all(study)
    except ConfigError as error:
        missing.append(f"Rankings: {error}.")
        return {}


def _analyses(
    study: Study, rankings: Mapping[str, Ranking], missing: list[str]
) -> Iterator[Section]:
    """The sections that apply; of the others why they do not."""
    if rankings:
        yield choices.rankings(study, rankings)
    makers: dict[str, Callable[[Study], Section]] = {
        "Importance": choices.important,
        "Score and cost": choices.trade_offs,
        "Parallel coordinates": choices.all_designs,
    }
    for name, make in makers.items():
        try:
            yield make(study)
        except ConfigError as error:
            missing.append(f"{name}: {error}.")


def _facts(view: View) -> Iterator[str]:
    designs, tasks = (len({r[key] for r in view.records}) for key in ("design", "task"))
    yield counted(designs, "design") + (f" on {tasks} tasks" if tasks > 1 else "")
    what = counted(len(view.records), "mean" if view.imported else "trial")
    yield f"{what}{' over repeats' if view.imported else ''}: {about.counts(view)}"


def _best(
    view: View, metrics: Mapping[str, tuple[str, bool]], tasks: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The first design of a single task, by name and value."""
    first = next((row for row in view.leaderboard.rows if row.get("rank") == 1), None)
    if first is None or len(tasks) != 1:
        return
    metric, _ = metrics[first["task"]]
    yield "best design", label(view, first)
    for split, name in (("val", "validation"), ("test", "test")):
        mean = first.get(f"{split}_{metric}_mean")
        std = first.get(f"{split}_{metric}_std")
        spread = f" ± {std:.4f}" if std is not None else ""
        yield f"its {name} {metric}", f"{cell(mean, 4)}{spread}"


def _asked(metric: str | None) -> Iterator[str]:
    if metric is not None:
        yield (
            f"Rankings, importance, trade-offs and parallel coordinates are by {metric}, as asked; "
            "the leaderboard is by what chose the epochs."
        )


def _warnings(view: View, study: Study | None, rankings: Mapping[str, Ranking]) -> Iterator[str]:
    if view.unfinished:
        yield f"{counted(view.unfinished, 'trial')} had no result when this page was written."
    if study is not None:
        said = (*_told_apart(view, study), *sentences(study, rankings.values()))
        yield from (f"{sentence}." for sentence in said)
    if view.imported:
        yield from (f"import: {said}." for said in view.imported.about.get("said", ()))


def _told_apart(view: View, study: Study) -> Iterator[str]:
    if view.imported:
        yield "only means over repeats are known: what is luck with a seed cannot be told"
    elif int(study.designs["n"].max()) < 2:
        yield "every design has one repeat: what is luck with a seed cannot be told"
    elif len(study.designs) > 1:
        yield from warnings(study, distinguishable(study))
