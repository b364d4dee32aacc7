"""How much each dimension matters, alone and in pairs."""

from argparse import ArgumentParser, Namespace

from gymspace.analysis.importance import Importance, importance
from gymspace.analysis.study import Study
from gymspace.errors import ConfigError
from gymspace.terminal.answer import Answer, Column, Sheet
from gymspace.terminal.asked import measuring, pick, pick_study, reading, write
from gymspace.terminal.forms import decimal
from gymspace.terminal.headline import headline
from gymspace.terminal.units import left_out

METHODS = {"fanova": "fanova", "pedanova": "ped_anova", "permutation": "permutation"}
_LITTLE = 0.3  # R2 below which a forest has not understood the scores
_BAR = 20
_MEANING = {
    "fanova": "fANOVA: share of a forest's variance that is the dimension's alone",
    "ped_anova": "PED-ANOVA: share in being among the best tenth; not checked by any fit",
    "permutation": "permutation: what a forest loses in R2 on other designs when it is shuffled",
}


def options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    reading(parser)
    measuring(parser)
    parser.add_argument("--method", choices=tuple(METHODS), help="fanova, unless --pairs is given")
    parser.add_argument("--pairs", action="store_true", help="pairs of dimensions (permutation)")
    parser.add_argument("--most", type=int, metavar="N", help="look at N designs drawn at random")


def run(asked: Namespace) -> None:
    """Print the answer."""
    if asked.pairs and asked.method not in (None, "permutation"):
        raise ConfigError("--pairs", "needs --method permutation", value=asked.method)
    if asked.most is not None and asked.most < 1:
        raise ConfigError("--most", "must be at least 1", value=asked.most)
    view = pick(asked)
    study = pick_study(asked, view)
    method = METHODS[asked.method or ("permutation" if asked.pairs else "fanova")]
    found = importance(study, method, most=asked.most)  # type: ignore[arg-type]
    write(asked, answer(study, found, asked.pairs, headline(view)))


def answer(study: Study, found: Importance, pairs: bool = False, head: str = "") -> Answer:
    """The dimensions, most important first; the pairs if they are asked for."""
    varied = [len(study.levels[name].values) > 1 for name in found.table["dimension"]]
    table = found.table[varied].reset_index(drop=True)
    top = max(table["importance"].max(), 1e-12)
    bars = ["█" * round(_BAR * max(part, 0) / top) for part in table["importance"]]
    columns = (
        Column("dimension", "dimension", study.alias, "left"),
        Column("importance", "importance", decimal(3)),
        Column("_bar", "", str, "left"),
    )
    sheets = [Sheet("importance", table.assign(_bar=bars), columns)]
    if pairs:
        sheets.append(_pairs(study, found))
    used = f"{found.used:,} of {found.designs:,} designs, standardised within their task"
    said = [_MEANING[found.method], f"from the mean scores of {used}"]
    if found.r2 == found.r2:
        said += [f"the forest's out-of-bag R2 is {found.r2:.2f}"]
        if found.r2 < _LITTLE:
            said += ["that is little: do not trust these numbers"]
    return Answer(head, tuple(sheets), (*said, *left_out(study)))


def _pairs(study: Study, found: Importance) -> Sheet:
    columns = (
        Column("first", "first", study.alias, "left"),
        Column("second", "second", study.alias, "left"),
        Column("importance", "together", decimal(3)),
        Column("interaction", "beyond the two", decimal(3)),
    )
    return Sheet("pairs", found.pairs, columns, "pairs", rows=10)
