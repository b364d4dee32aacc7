"""K-fold splits: every row is tested on once, in one of the folds."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import fraction, whole
from gymspace.graph.rows import Rows, Split, check_fold


def kfold(
    data: Data,
    seed: int,
    fold: int = 0,
    folds: int = 10,
    stratified: bool = True,
    val: float | None = None,
    split_seed: int | None = 0,
    rows: str = "nodes",
) -> Split:
    """Deal the labelled rows to ``folds`` parts; part ``fold`` is the test split.

    The validation split is the part after it, or the share ``val`` of what is left; all else is
    for training. Sizes of parts differ by one at most. ``stratified`` deals each class by itself,
    so that this holds for every class too; labels that are no class ids are dealt as they come.
    The parts depend on ``split_seed`` alone, so they are the same for every ``seed`` of a sweep;
    with ``split_seed`` null they are drawn anew from the trial's ``seed``.

    Raises:
        ConfigError: more folds than rows or than rows of a class, no such fold, an empty split.
    """
    check_fold(fold, whole("data.split.folds", folds, 2), "there are")
    found = Rows.of(data, rows)
    order, origin = found.drawn(seed, 0, split_seed)
    ids = found.class_ids if stratified else None
    if ids is not None:
        order = order[ids[order].argsort(stable=True)]
    _require_enough(folds, order, ids, rows)
    part = torch.arange(len(order)) % folds
    held = _held(part, fold, folds, val)
    tested = part == fold
    share = "" if val is None else f", val={val}"
    rule = f"kfold(folds={folds}, fold={fold}{share}, {origin})"
    return found.split(order[~tested & ~held], order[held], order[tested], rule)


def _held(part: Tensor, fold: int, folds: int, val: float | None) -> Tensor:
    """Bool: what is for validation; a share is spread evenly over the order of the rows."""
    if val is None:
        if folds == 2:
            problem = "leaves nothing to train on: set 3 or more, or data.split.val to a share"
            raise ConfigError("data.split.folds", problem, value=folds)
        return part == (fold + 1) % folds
    share = fraction("data.split.val", val)
    rest = part != fold
    number = rest.cumsum(0).double()
    return rest & ((number * share).floor() > ((number - 1) * share).floor())


def _require_enough(folds: int, order: Tensor, ids: Tensor | None, noun: str) -> None:
    if folds > len(order):
        raise ConfigError("data.split.folds", f"only {len(order)} {noun} have a label", value=folds)
    if ids is None:
        return
    classes, counts = ids[order].unique(return_counts=True)
    least = int(counts.argmin())
    if folds > counts[least]:
        problem = f"class {int(classes[least])} has only {int(counts[least])} labelled {noun}"
        raise ConfigError("data.split.folds", problem, value=folds)
