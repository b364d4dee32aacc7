"""Which rows are learnt from, which choose the epoch and which are tested on.

Rows are what has labels, nodes or graphs; ``rows`` is the word for them.
"""

import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import fraction, whole
from gymspace.graph.rows import PARTS, Rows, Split, check_fold

__all__ = ["Split", "own", "per_class", "random"]


def own(data: Data, fold: int = 0, rows: str = "nodes") -> Split:
    """The split that the dataset brings as ``train_mask``, ``val_mask`` and ``test_mask``.

    A mask is bool [R], or [R, F] for F fixed splits, of which ``fold`` takes one.

    Raises:
        ConfigError: a mask is missing, of another shape or empty, masks overlap, no such fold.
    """
    brought = {part: getattr(data, f"{part}_mask", None) for part in PARTS}
    masks = {part: mask.bool() for part, mask in brought.items() if isinstance(mask, Tensor)}
    absent = [f"{part}_mask" for part in PARTS if part not in masks]
    if absent:
        problem = f"the dataset has no {' and no '.join(absent)}; random and per_class draw a split"
        raise ConfigError("data.split", problem, value="own")
    found = Rows.of(data, rows)
    for part, mask in masks.items():
        if mask.dim() not in (1, 2) or mask.size(0) != len(found):
            problem = f"{part}_mask is {list(mask.shape)} for {len(found)} {rows}"
            raise ConfigError("data.split", problem, value="own")
    several = [mask.size(1) for mask in masks.values() if mask.dim() == 2]
    check_fold(fold, min(several, default=1))
    chosen = {part: mask if mask.dim() == 1 else mask[:, fold] for part, mask in masks.items()}
    return found.masked(chosen, f"own(fold={fold})" if several else "own")


def random(
    data: Data,
    seed: int,
    fold: int = 0,
    train: float = 0.6,
    val: float = 0.2,
    split_seed: int | None = 0,
    rows: str = "nodes",
) -> Split:
    """Draw ``train`` and ``val`` as fractions of the labelled rows; the rest is the test split.

    The split depends on ``split_seed`` and ``fold`` alone, so it is the same for every ``seed`` of
    a sweep; with ``split_seed`` null it is drawn anew from the trial's ``seed``. Sizes are rounded
    to the nearest whole number.

    Raises:
        ConfigError: the fractions sum to more than 1, or a split comes out empty.
    """
    shares = [fraction("data.split.train", train), fraction("data.split.val", val)]
    if sum(shares) > 1 + 1e-9:
        raise ConfigError("data.split", f"train={train} and val={val} sum to more than 1")
    found = Rows.of(data, rows)
    drawn, origin = found.drawn(seed, fold, split_seed)
    first = round(shares[0] * drawn.numel())
    second = round(sum(shares) * drawn.numel()) - first
    parts = drawn[:first], drawn[first:][:second], drawn[first + second :]
    return found.split(*parts, f"random(train={train}, val={val}, {origin})")


def per_class(
    data: Data,
    seed: int,
    fold: int = 0,
    train: int = 5,
    val: int | None = None,
    val_per_class: int | None = None,
    test: int | None = None,
    split_seed: int | None = 0,
    rows: str = "nodes",
) -> Split:
    """Draw ``train`` rows of each class, then ``val`` rows in all or ``val_per_class`` of each.

    With neither of the two ``val`` is 100. The test split is what is left, or ``test`` rows of it.
    ``train=20, val=500, test=1000`` draws as Planetoid did (Yang et al. 2016), ``train=20,
    val_per_class=30`` as Shchur et al. (2018). ``split_seed`` and ``fold`` are as in `random`.

    Raises:
        ConfigError: a class or the rest has fewer rows than asked for, labels are not class ids.
    """
    whole("data.split.train", train, 1)
    if val is not None and val_per_class is not None:
        raise ConfigError("data.split", f"val={val} or val_per_class={val_per_class}, not both")
    if val_per_class is None:
        total, each = whole("data.split.val", 100 if val is None else val, 1), 0
    else:
        total, each = None, whole("data.split.val_per_class", val_per_class, 1)
    found = Rows.of(data, rows)
    drawn, origin = found.drawn(seed, fold, split_seed)
    place = _place_in_class(found.require_class_ids("per_class")[drawn], train, each, rows)
    chosen, rest = drawn[place < train], drawn[place >= train + each]
    held = drawn[(place >= train) & (place < train + each)]
    if total is not None:
        held, rest = _take("val", rest, total, rows)
    if test is not None:
        rest, _ = _take("test", rest, whole("data.split.test", test, 1), rows)
    counts = f"val={total}" if total is not None else f"val_per_class={each}"
    counts += "" if test is None else f", test={test}"
    return found.split(chosen, held, rest, f"per_class(train={train}, {counts}, {origin})")


def _place_in_class(ids: Tensor, train: int, each: int, noun: str) -> Tensor:
    """For class ids in drawn order: how many of the same class were drawn before."""
    place = torch.zeros_like(ids)
    for label in ids.unique().tolist():
        members = (ids == label).nonzero().squeeze(1)
        if members.numel() < train + each:
            asked = f"{train} for train" + (f" and {each} for val" if each else "")
            problem = f"class {label} has {members.numel()} labelled {noun}, asked are {asked}"
            raise ConfigError("data.split", problem, value="per_class")
        place[members] = torch.arange(members.numel())
    return place


def _take(part: str, rows: Tensor, count: int, noun: str) -> tuple[Tensor, Tensor]:
    if count > rows.numel():
        raise ConfigError(f"data.split.{part}", f"only {rows.numel()} {noun} are left", value=count)
    return rows[:count], rows[count:]
