"""Is one design, or one sweep, better than another, and how sure is that?"""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from gymspace.analysis.compare import Comparison, compare_designs, compare_studies
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.designs import describe, find_design
from gymspace.terminal.forms import decimal, p_value, score, words
from gymspace.terminal.headline import counted, headline
from gymspace.terminal.units import left_out, units

_ROUNDING = 1e-12


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    parser.add_argument(
        "others",
        nargs="+",
        metavar="A B",
        help="two designs (id, the start of it, or place), or the folder of another sweep",
    )
    measuring(parser)
    parser.add_argument(
        "--rope", type=float, default=0.0, metavar="R", help="a difference that does not matter (0)"
    )


def run(asked: Namespace) -> None:
    """Print the answer."""
    if not 0 <= asked.rope < np.inf:
        raise ConfigError("--rope", "must be 0 or more", value=asked.rope)
    if len(asked.others) == 1:
        write(asked, _sweeps(asked, Path(asked.others[0])))
    elif len(asked.others) == 2:
        write(asked, _designs(asked, *asked.others))
    else:
        problem = "compare takes two designs of a sweep, or two sweeps"
        raise ConfigError("compare", problem, value=" ".join(asked.others))


def answer(
    study: Study, found: Comparison, sides: pd.DataFrame, pair: str, head: str, rope: float
) -> Answer:
    """Both ``sides`` (``name`` and ``what``) and their difference; ``pair`` is what was paired."""
    unit = units(study)
    means = [unit.of(found.pairs[side].mean()) for side in ("a", "b")]
    spreads = [found.pairs[side].std(ddof=1) for side in ("a", "b")]
    made = sides.assign(mean=means, std=spreads, pairs=len(found.pairs))
    title = f"{unit.title}, mean ± std over {counted(len(found.pairs), pair)} that both have"
    best = unit.best
    columns = (
        Column("side", "", words, "left"),
        Column("name", "name", words, "left"),
        Column("what", "what", words, "fold"),
        Column("mean", unit.title, score, spread="std", best=best),
    )
    sheets = (
        Sheet("sides", made, columns, title),
        _difference(found),
        Sheet("pairs", found.pairs.reset_index(), ()),
    )
    return Answer(head, sheets, (*_verdict(found, pair, rope), *left_out(study)))


def _designs(asked: Namespace, a: str, b: str) -> Answer:
    view = pick(asked)
    study = pick_study(asked, view)
    ids = [find_design(study, name) for name in (a, b)]
    if ids[0] == ids[1]:
        raise ConfigError("compare", "both are the same design", value=ids[0])
    found = compare_designs(study, *ids, rope=asked.rope)
    about = describe(study, ids)
    sides = pd.DataFrame({"side": ["A", "B"], "name": ids, "what": [about[one] for one in ids]})
    return answer(study, found, sides, "repeat", headline(view), asked.rope)


def _sweeps(asked: Namespace, other: Path) -> Answer:
    if not other.is_dir():
        problem = "no such folder; two designs are compared as in compare FOLDER A B"
        raise ConfigError("compare", problem, value=other)
    views = [pick(asked), pick(Namespace(**{**vars(asked), "folder": other}))]
    first, second = (pick_study(asked, view) for view in views)
    found = compare_studies(first, second, rope=asked.rope)
    names = [view.folder.resolve().name for view in views]
    what = [headline(view).partition("  ")[2] for view in views]
    sides = pd.DataFrame({"side": ["A", "B"], "name": names, "what": what})
    matched = _matched(first, second)
    design = "choice" if matched else "design"
    pair = "repeat" if "seed" in found.pairs.index.names else design
    study = replace(first, left_out=Counter(first.left_out) + Counter(second.left_out))
    made = answer(study, found, sides, pair, " against ".join(names), asked.rope)
    return replace(made, words=(*matched, *made.words))


def _matched(a: Study, b: Study) -> tuple[str, ...]:
    """What `compare_studies` takes for equal where the sweeps share no design, in words."""
    if set(a.frame["design"]) & set(b.frame["design"]):
        return ()
    shared = [a.alias(name) for name in a.dimensions if name in b.dimensions]
    by = f"matched by {', '.join(shared)} alone" if shared else "compared as wholes"
    return (f"no design is in both: {by}, means over all else, which may differ",)


def _difference(found: Comparison) -> Sheet:
    row = {
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
        "boot_low": found.boot_low,
        "boot_high": found.boot_high,
        "p": found.p,
        "probability": found.probability,
        "equal": found.equal,
        "more": found.more,
    }
    columns = (
        Column("difference", "A - B", score),
        Column("low", "low", score),
        Column("high", "high", score),
        Column("boot_low", "boot low", score),
        Column("boot_high", "boot high", score),
        Column("p", "p", p_value),
        Column("probability", "A better", decimal(2)),
    )
    title = "difference (positive: A is better), 95% intervals"
    return Sheet("difference", pd.DataFrame([row]), columns, title)


def _verdict(found: Comparison, pair: str, rope: float) -> Iterator[str]:
    n = len(found.pairs)
    if found.difference and np.ptp(found.pairs["difference"]) < _ROUNDING:
        yield "all pairs differ by the same: without a spread p and intervals mean nothing"
    yield f"paired by {pair}: Student's t and bootstrap over {n} pairs; p: paired t-test, two-sided"
    if found.correlation:
        yield (
            f"folds of one k-fold split share training data: t and p allow for a correlation of "
            f"{found.correlation:.2g} (Nadeau and Bengio 2003), the bootstrap does not"
        )
    if found.difference:
        a, b = found.probability, 1 - found.probability - found.equal
        better = f"A is better with probability {a:.3f}"
        if found.difference < 0:
            better = f"B is better with probability {b:.3f}"
        near = f", they differ by no more than {rope:g} with {found.equal:.3f}" if rope else ""
        yield f"{better}{near} (Bayesian t-test)"
    if found.p > 0.05 or found.p != found.p:
        if found.more is None:
            yield "no difference is seen, however many more there were"
        elif found.more > 0:
            more = counted(found.more, f"more {pair}")
            yield f"not told apart; about {more} would (80% power, this size)"
        else:
            yield "not told apart"
