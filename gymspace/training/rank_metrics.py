"""Metrics of ranking: mean reciprocal rank and hits at k.

Positives are ranked among the negatives they are shown with. Several labels in a row are a query
and its candidates: each 1 is ranked among the row's own 0s, and NaN is no candidate (a known answer
that is filtered out). A class id is the one positive among all classes. One label in a row: all 1s
are ranked among all 0s of the split, as OGB does for links.

Ties: a positive's rank is the mean of those it shares, 1 + higher negatives + equal negatives / 2
(Berrendorf et al. 2020, "realistic"), so a constant predictor is in the middle, never on top.
"""

import math

import torch
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.judging import paired_rows
from gymspace.training.labels import Judged, Mask, judge, require_classes, require_pairs
from gymspace.training.states import Direction, Rows, Sums, Value


class Ranked:
    """The mean over positives of what ``worth`` makes of their ranks; without rivals undefined."""

    direction: Direction = "max"
    zero_one = True  # what numbers that are labels must be
    name: str

    def worth(self, ranks: Tensor) -> Tensor:
        """The value of each rank [P]."""
        raise NotImplementedError

    def update(self, pred: Tensor, target: Tensor, mask: Mask) -> Sums | Rows:
        """Sums [3] of worths, ranks and positives without rivals; of one label a row, `Rows`."""
        judged = judge(pred.detach(), target, mask)
        if judged.target.dim() == 1 and not judged.multiclass:
            return paired_rows(judged, self.name)
        scores, labels = _queries(judged, self.name)
        ranks, rivals = _ranks_in_rows(scores, labels)
        worth = self.worth(ranks[rivals]).sum()
        return Sums(torch.stack([worth, rivals.sum(), (~rivals).sum()]).double().cpu())

    def compute(self, state: Sums | Rows) -> Value:
        """The mean worth; ``undefined`` counts positives without a rival."""
        if isinstance(state, Sums):
            worth, ranked, alone = state.values.tolist()
            return Value(worth / ranked if ranked else math.nan, int(ranked), int(alone))
        scores, labels = (column.squeeze(1) for column in state.columns)
        positive = labels > 0.5
        ones, rivals = int(positive.sum()), int((~positive).sum())
        if not ones or not rivals:
            return Value(math.nan, 0, ones)
        ranks = _ranks_in_pool(scores[positive], scores[~positive])
        return Value(float(self.worth(ranks).mean()), ones, 0)


class MRR(Ranked):
    """Mean of 1 / rank."""

    name = "mrr"

    def worth(self, ranks: Tensor) -> Tensor:
        return 1 / ranks


class Hits(Ranked):
    """Share of positives whose rank is ``k`` or better."""

    name = "hits"

    def __init__(self, k: int = 10):
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ConfigError("metrics.k", "must be a whole number from 1 on", value=k)
        self.k = k

    def worth(self, ranks: Tensor) -> Tensor:
        return torch.where(ranks.isnan(), math.nan, (ranks <= self.k).double())


def _queries(judged: Judged, name: str) -> tuple[Tensor, Tensor]:
    """Scores and labels (1, 0, NaN) [Q, C] of the labelled rows."""
    if judged.multiclass:
        require_classes(judged, "metrics", name)
        scores, truth = judged.pred[judged.labelled], judged.target[judged.labelled]
        labels = truth.unsqueeze(1) == torch.arange(scores.shape[1], device=truth.device)
        return scores, labels.to(scores.dtype)
    require_pairs(judged, "metrics", name)
    return judged.pred, judged.target.masked_fill(~judged.labelled, math.nan)


def _ranks_in_rows(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Ranks [P] of the positives of all rows, NaN beside a NaN; and whether each has a rival."""
    query, place = (labels == 1).nonzero(as_tuple=True)
    own = scores[query, place].unsqueeze(1)
    others, rival = scores[query], labels[query] == 0
    above = ((others > own) & rival).sum(1)
    tied = ((others == own) & rival).sum(1)
    wrong = (others.isnan() & rival).any(1) | own.squeeze(1).isnan()
    ranks = 1 + above.double() + tied.double() / 2
    return ranks.masked_fill(wrong, math.nan), rival.any(1)


def _ranks_in_pool(scores: Tensor, rivals: Tensor) -> Tensor:
    """Ranks [P] of ``scores`` among ``rivals``; NaN if a score of the pool is."""
    if scores.isnan().any() or rivals.isnan().any():
        return torch.full_like(scores, math.nan)
    ordered = rivals.sort().values
    above = len(ordered) - torch.searchsorted(ordered, scores, right=True)
    least = len(ordered) - torch.searchsorted(ordered, scores, right=False)
    return 1 + (above + least).double() / 2
