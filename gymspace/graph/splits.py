"""Which nodes are learnt from, which choose the epoch and which are tested on."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import fraction, whole

PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint bool masks [N]; ``text`` states the rule and the sizes train/val/test."""

    train: Tensor
    val: Tensor
    test: Tensor
    text: str


def own(data: Data, fold: int = 0) -> Split:
    """The split that the dataset brings as ``train_mask``, ``val_mask`` and ``test_mask``.

    A mask is bool [N], or [N, F] for F fixed splits, of which ``fold`` takes one.

    Raises:
        ConfigError: a mask is missing, of another shape or empty, masks overlap, no such fold.
    """
    found = {part: getattr(data, f"{part}_mask", None) for part in PARTS}
    masks = {part: mask.bool() for part, mask in found.items() if isinstance(mask, Tensor)}
    absent = [f"{part}_mask" for part in PARTS if part not in masks]
    if absent:
        problem = f"the dataset has no {' and no '.join(absent)}; random and per_class draw a split"
        raise ConfigError("data.split", problem, value="own")
    labelled = _labelled(data)
    for part, mask in masks.items():
        if mask.dim() not in (1, 2) or mask.size(0) != labelled.numel():
            problem = f"{part}_mask is {list(mask.shape)} for {labelled.numel()} nodes"
            raise ConfigError("data.split", problem, value="own")
    several = [mask.size(1) for mask in masks.values() if mask.dim() == 2]
    _check_fold(fold, min(several, default=1))
    chosen = {part: mask if mask.dim() == 1 else mask[:, fold] for part, mask in masks.items()}
    return _split(chosen, labelled, f"own(fold={fold})" if several else "own")


def random(
    data: Data,
    seed: int,
    fold: int = 0,
    train: float = 0.6,
    val: float = 0.2,
    split_seed: int | None = 0,
) -> Split:
    """Draw ``train`` and ``val`` as fractions of the labelled nodes; the rest is the test split.

    The split depends on ``split_seed`` and ``fold`` alone, so it is the same for every ``seed`` of
    a sweep; with ``split_seed`` null it is drawn anew from the trial's ``seed``. Sizes are rounded
    to the nearest whole number.

    Raises:
        ConfigError: the fractions sum to more than 1, or a split comes out empty.
    """
    shares = [fraction("data.split.train", train), fraction("data.split.val", val)]
    if sum(shares) > 1 + 1e-9:
        raise ConfigError("data.split", f"train={train} and val={val} sum to more than 1")
    labelled = _labelled(data)
    drawn, origin = _draw(labelled, seed, fold, split_seed)
    first = round(shares[0] * drawn.numel())
    second = round(sum(shares) * drawn.numel()) - first
    masks = _masks(labelled.numel(), drawn[:first], drawn[first:][:second], drawn[first + second :])
    return _split(masks, labelled, f"random(train={train}, val={val}, {origin})")


def per_class(
    data: Data,
    seed: int,
    fold: int = 0,
    train: int = 5,
    val: int | None = None,
    val_per_class: int | None = None,
    test: int | None = None,
    split_seed: int | None = 0,
) -> Split:
    """Draw ``train`` nodes of each class, then ``val`` nodes in all or ``val_per_class`` of each.

    With neither of the two ``val`` is 100. The test split is what is left, or ``test`` nodes of it.
    ``train=20, val=500, test=1000`` draws as Planetoid did (Yang et al. 2016), ``train=20,
    val_per_class=30`` as Shchur et al. (2018). ``split_seed`` and ``fold`` are as in `random`.

    Raises:
        ConfigError: a class or the rest has fewer nodes than asked for, labels are not class ids.
    """
    whole("data.split.train", train, 1)
    if val is not None and val_per_class is not None:
        raise ConfigError("data.split", f"val={val} or val_per_class={val_per_class}, not both")
    if val_per_class is None:
        total, each = whole("data.split.val", 100 if val is None else val, 1), 0
    else:
        total, each = None, whole("data.split.val_per_class", val_per_class, 1)
    labelled = _labelled(data)
    drawn, origin = _draw(labelled, seed, fold, split_seed)
    place = _place_in_class(_class_ids(data)[drawn], train, each)
    chosen, rest = drawn[place < train], drawn[place >= train + each]
    held = drawn[(place >= train) & (place < train + each)]
    if total is not None:
        held, rest = _take("val", rest, total)
    if test is not None:
        rest, _ = _take("test", rest, whole("data.split.test", test, 1))
    counts = f"val={total}" if total is not None else f"val_per_class={each}"
    counts += "" if test is None else f", test={test}"
    masks = _masks(labelled.numel(), chosen, held, rest)
    return _split(masks, labelled, f"per_class(train={train}, {counts}, {origin})")


def _labelled(data: Data) -> Tensor:
    """Bool [N]: nodes with a label; NaN and negative class ids are none, in all columns of y."""
    y = data.y
    if not isinstance(y, Tensor) or y.dim() == 0:
        raise ConfigError("data.split", "the dataset has no labels y, one row per node")
    known = ~y.isnan() if y.is_floating_point() else y >= 0
    return known.flatten(1).any(1) if y.dim() > 1 else known


def _class_ids(data: Data) -> Tensor:
    y = data.y.squeeze(1) if data.y.dim() == 2 and data.y.size(1) == 1 else data.y
    if y.dim() != 1 or y.is_floating_point():
        problem = f"needs one class id per node, and y is {y.dtype} of {list(y.shape)}"
        raise ConfigError("data.split", problem, value="per_class")
    return y


def _check_fold(fold: int, folds: int) -> None:
    if not 0 <= fold < folds:
        have = "one split, fold 0" if folds == 1 else f"{folds} splits, folds 0 to {folds - 1}"
        raise ConfigError("fold", f"out of range: the dataset has {have}", value=fold)


def _draw(labelled: Tensor, seed: int, fold: int, split_seed: int | None) -> tuple[Tensor, str]:
    """The labelled nodes in the order of a draw, and the words that name the draw."""
    used = seed if split_seed is None else whole("data.split.split_seed", split_seed, 0)
    state = np.random.SeedSequence([used, whole("fold", fold, 0)]).generate_state(1, np.uint64)
    nodes = labelled.nonzero().squeeze(1)
    generator = torch.Generator().manual_seed(int(state[0]))
    order = torch.randperm(nodes.numel(), generator=generator)
    return nodes[order], f"seed={used}" + (f", fold={fold}" if fold else "")


def _place_in_class(ids: Tensor, train: int, each: int) -> Tensor:
    """For class ids in drawn order: how many of the same class were drawn before."""
    place = torch.zeros_like(ids)
    for label in ids.unique().tolist():
        members = (ids == label).nonzero().squeeze(1)
        if members.numel() < train + each:
            asked = f"{train} for train" + (f" and {each} for val" if each else "")
            problem = f"class {label} has {members.numel()} labelled nodes, asked are {asked}"
            raise ConfigError("data.split", problem, value="per_class")
        place[members] = torch.arange(members.numel())
    return place


def _take(part: str, nodes: Tensor, count: int) -> tuple[Tensor, Tensor]:
    if count > nodes.numel():
        raise ConfigError(f"data.split.{part}", f"only {nodes.numel()} nodes are left", value=count)
    return nodes[:count], nodes[count:]


def _masks(size: int, *parts: Tensor) -> dict[str, Tensor]:
    masks = {part: torch.zeros(size, dtype=torch.bool) for part in PARTS}
    for mask, nodes in zip(masks.values(), parts, strict=True):
        mask[nodes] = True
    return masks


def _split(masks: Mapping[str, Tensor], labelled: Tensor, rule: str) -> Split:
    kept = {part: mask & labelled for part, mask in masks.items()}
    sizes = {part: int(mask.sum()) for part, mask in kept.items()}
    for part, size in sizes.items():
        if size == 0:
            problem = f"the {part} split is empty ({int(labelled.sum())} nodes have a label)"
            raise ConfigError("data.split", problem, value=rule)
    for one, other in combinations(PARTS, 2):
        shared = int((kept[one] & kept[other]).sum())
        if shared:
            problem = f"the {one} and {other} splits share {shared} nodes"
            raise ConfigError("data.split", problem, value=rule)
    return Split(**kept, text=f"{rule}: {'/'.join(map(str, sizes.values()))}")
