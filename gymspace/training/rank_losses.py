"""Ranking losses: what is true should score higher than what is not."""

from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from gymspace.errors import ConfigError
from gymspace.training.labels import Mask, judge, require_pairs
from gymspace.training.losses import Loss, LossSum


def bpr() -> Loss:
    """Bayesian personalised ranking (Rendle et al. 2009): -log sigmoid of positive - negative."""
    return Ranking("bpr", lambda gap: F.softplus(-gap))


def margin(by: float = 1.0) -> Loss:
    """Hinge: a positive should score higher than a negative by ``by`` (Bordes et al. 2013)."""
    if not isinstance(by, int | float) or by <= 0:
        raise ConfigError("loss.by", "must be above 0", value=by)
    return Ranking("margin", lambda gap: F.relu(by - gap))


@dataclass(frozen=True)
class Ranking:
    """A loss of the gaps between positives (1) and negatives (0), counted by pairs.

    Rows are queries with several candidates: each 1 against each 0 of its row, so that batches and
    ranks add up to the whole.
    """

    name: str
    worth: Callable[[Tensor], Tensor]
    zero_one: bool = True

    def __call__(self, pred: Tensor, target: Tensor, mask: Mask) -> LossSum:
        """``worth`` of all gaps, summed. See `Loss`."""
        judged = judge(pred, target, mask)
        require_pairs(judged, "loss", self.name)
        if judged.target.dim() == 1:
            problem = "needs several labels in a row, a query's candidates, and here is one"
            raise ConfigError("loss", problem, value=self.name)
        true, false = ((judged.target == sign) & judged.labelled for sign in (1, 0))
        row, place = true.nonzero(as_tuple=True)
        which, rival = false[row].nonzero(as_tuple=True)
        gaps = judged.pred[row[which], place[which]] - judged.pred[row[which], rival]
        return LossSum(self.worth(gaps).sum(), len(gaps))
