"""Names of columns: of results, of design choices, and how the two stay apart."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gymspace.errors import ConfigError

SPLITS = ("train", "val", "test")
STATUSES = ("done", "failed", "diverged", "pruned", "timeout")
IDENTITY = ("trial", "design", "task", "seed", "fold", "status", "error")
BUDGET = ("budget_target", "budget_error", "width")
# Columns that are text whatever they look like: a hex id such as 123e45 is no number.
TEXT = frozenset({"trial", "design", "task", "status", "error", "split", "missing"})
_FIXED = frozenset(
    {*IDENTITY, "split", "best_epoch", "epochs", "params", "seconds", *BUDGET}
    | {"rank", "pareto", "n_seeds", "missing", *(f"n_{status}" for status in STATUSES)}
)
_AGG = ("epoch", "loss", "params", "time_iter")
_LOW = frozenset({"loss", "mae", "mse", "rmse", "error", "seconds", "params", "epochs", "iter"})


def columns(varied: Iterable[str], metrics: Iterable[str]) -> dict[str, str]:
    """Map each varied key to its column in `trials.csv` and `leaderboard.csv`: its dotted name.

    A key that is also the name of a result gets the prefix ``choice.``.
    """
    scores = {f"{split}_{name}" for split in SPLITS for name in ("loss", *metrics)}
    reserved = _FIXED | scores | {f"{score}_{part}" for score in scores for part in ("mean", "std")}
    return {key: _apart(key, reserved) for key in varied}


def aliases(
    varied: Sequence[str], explicit: Mapping[str, str], metrics: Iterable[str]
) -> dict[str, str]:
    """Map each varied key to its column in `agg/*.csv`.

    That is the explicit alias if there is one, else the key's last segment if no other column has
    it, else the full dotted name.

    Raises:
        ConfigError: an explicit alias names a result column, or another key's column.
    """
    results = (*_AGG, *metrics)
    reserved = {*results, *(f"{name}_std" for name in results)}
    given = {key: explicit[key] for key in varied if key in explicit}
    for key, alias in given.items():
        if alias in reserved:
            raise _mistake(key, alias, "is a result column of agg/*.csv")
    taken = reserved | set(given.values())
    last = Counter(key.rpartition(".")[2] for key in varied if key not in given)
    chosen = {key: given.get(key) or _default(key, last, taken) for key in varied}
    for alias, times in Counter(chosen.values()).items():
        if times > 1:
            keys = [key for key in varied if chosen[key] == alias]
            culprit = next(key for key in reversed(keys) if key in given)
            other = next(key for key in keys if key != culprit)
            raise _mistake(culprit, alias, f"is the column of {other} too")
    return chosen


def more_is_better(column: str) -> bool:
    """Whether more of a result is better, by the last word of its name, where nothing else says."""
    words = column.removesuffix("_mean").replace(".", "_").split("_")
    return words[-1] not in _LOW


def _default(key: str, last: Mapping[str, int], taken: set[str]) -> str:
    short = key.rpartition(".")[2]
    return short if last[short] == 1 and short not in taken else _apart(key, taken)


def _apart(key: str, reserved: Iterable[str]) -> str:
    return f"choice.{key}" if key in reserved else key


def _mistake(key: str, alias: str, problem: str) -> ConfigError:
    return ConfigError(f"sweep.space.{key}.alias", f"{problem}; choose another alias", value=alias)
