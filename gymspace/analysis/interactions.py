"""Mean effects of choices, and of pairs of choices beyond the two alone."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from gymspace.analysis.levels import Levels, encode
from gymspace.analysis.study import Study


def main_effects(study: Study, dimension: str) -> pd.DataFrame:
    """One row per choice: ``designs``, mean ``gain``, ``effect`` (mean gain above that of the
    task), its ``std`` over designs.

    Nothing is held equal: where the draw is not balanced, other dimensions show through.

    Raises:
        ConfigError: no such dimension.
    """
    key = study.dimension(dimension)
    levels, effect, gain = _effects(study, [key])
    groups = pd.DataFrame({"code": levels[0].codes, "gain": gain, "effect": effect}).groupby("code")
    table = pd.DataFrame({"designs": groups.size()}).join(groups.mean())
    table = table.assign(std=groups["effect"].std(ddof=1))
    values = pd.Series([levels[0].values[code] for code in table.index], table.index, dtype=object)
    table.insert(0, "choice", values)
    return table.reset_index(drop=True)


def interactions(study: Study, first: str, second: str) -> pd.DataFrame:
    """One row per pair of choices that occurs: ``designs``, ``effect`` (mean gain above that of the
    task) and ``interaction``, what it has beyond the two main effects.

    Raises:
        ConfigError: no such dimension.
    """
    keys = [study.dimension(first), study.dimension(second)]
    levels, effect, _ = _effects(study, keys)
    frame = pd.DataFrame({"a": levels[0].codes, "b": levels[1].codes, "effect": effect})
    groups = frame.groupby(["a", "b"])["effect"]
    table = groups.agg(["size", "mean"]).reset_index()
    alone = [frame.groupby(name)["effect"].mean() for name in ("a", "b")]
    expected = table["a"].map(alone[0]) + table["b"].map(alone[1]) - effect.mean()
    return pd.DataFrame(
        {
            "first": pd.Series([levels[0].values[code] for code in table["a"]], dtype=object),
            "second": pd.Series([levels[1].values[code] for code in table["b"]], dtype=object),
            "designs": table["size"],
            "effect": table["mean"],
            "interaction": table["mean"] - expected,
        }
    )


def _effects(study: Study, keys: Sequence[str]) -> tuple[list[Levels], np.ndarray, np.ndarray]:
    designs = study.designs
    effect = designs["gain"] - designs.groupby("task")["gain"].transform("mean")
    gain = designs["gain"].to_numpy(dtype=float)
    return [encode(designs[key]) for key in keys], effect.to_numpy(dtype=float), gain
