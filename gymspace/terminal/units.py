"""Gains back in units of the score, where all tasks have the same."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gymspace.analysis.study import Study


@dataclass(frozen=True)
class Units:
    """How gains are called and which sign the score has."""

    title: str
    sign: int

    @property
    def best(self):
        """Which score is best."""
        return "max" if self.sign > 0 else "min"

    def of(self, gains: pd.Series | np.ndarray):
        """Scores of gains."""
        return gains * self.sign


def units(study: Study) -> Units:
    """The metric if all tasks share it, else ``gain``."""
    kinds = {(score.column, score.high) for score in study.scores.values()}
    highs = {high for _, high in kinds}
    title = study.metric if len(kinds) == 1 else "score" if highs == {True} else "gain"
    return Units(title, -1 if highs == {False} else 1)


def left_out(study: Study) -> list[str]:
    """How many trials do not count, and why."""
    parts = [f"{n:,} {status}" for status, n in study.left_out.items()]
    return [f"left out: trials {', '.join(parts)}"] if parts else []
