"""Curves: of learning, over a design's repeats; of a search, over the trials it has finished."""

import numpy as np
import pandas as pd

from gymspace.analysis.study import Study
from gymspace.errors import ConfigError


def learning_curves(histories: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over repeats, per task, design and epoch, of what `load.load_curves` gives.

    Columns: ``task``, ``design``, ``epoch``, ``mean``, ``std`` (ddof 1), ``low``, ``high`` (least
    and largest), ``n`` repeats. Where n falls, repeats have stopped: the mean is of those left.
    """
    groups = histories.groupby(["task", "design", "epoch"])["value"]
    table = groups.agg(["mean", "std", "min", "max", "count"]).reset_index()
    return table.rename(columns={"min": "low", "max": "high", "count": "n"})


def regret(study: Study, order: pd.Series) -> pd.DataFrame:
    """How a search closes in on its best design, per task.

    ``order`` has a sortable value per row of the study's frame, such as when it finished. Columns:
    ``task``, ``trials`` so far, ``best`` gain of a trial so far, the ``design`` of that trial, and
    ``regret``: mean gain of the best design of all minus that of this design (simple regret; means
    are over all repeats, those still to come included, so that luck with a seed is no progress).

    Raises:
        ConfigError: ``order`` is of another length.
    """
    if len(order) != len(study.frame):
        raise ConfigError("order", f"has {len(order)} values for {len(study.frame)} trials")
    keys = ["task", "design", "seed", "fold"]
    frame = study.frame[[*keys, "gain"]].assign(order=order.to_numpy())
    frame = frame.sort_values(["order", *keys], kind="stable")
    means = frame.groupby(["task", "design"])["gain"].transform("mean").to_numpy(dtype=float)
    parts = []
    for task, part in frame.assign(mean=means).groupby("task"):
        gain = part["gain"].to_numpy(dtype=float)
        best = np.maximum.accumulate(gain)
        fresh = np.concatenate([[True], best[1:] > best[:-1]])
        at = np.maximum.accumulate(np.where(fresh, np.arange(len(gain)), 0))
        parts.append(
            pd.DataFrame(
                {
                    "task": task,
                    "trials": np.arange(1, len(gain) + 1),
                    "best": best,
                    "design": part["design"].to_numpy()[at],
                    "regret": part["mean"].max() - part["mean"].to_numpy()[at],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
