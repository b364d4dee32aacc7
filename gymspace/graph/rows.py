"""The rows of a dataset, nodes or graphs, as its splits see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import whole

PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint bool masks [R]; ``text`` states the rule and the sizes train/val/test."""

    train: Tensor
    val: Tensor
    test: Tensor
    text: str


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with labels ``y`` ([R] or [R, T]); ``noun`` is the word for them."""

    y: Tensor
    noun: str = "nodes"

    @classmethod
    def of(cls, data: Data, noun: str) -> "Rows":
        """The rows of ``data``, or `ConfigError` if it has no labels."""
        if not isinstance(data.y, Tensor) or data.y.dim() == 0:
            raise ConfigError("data.split", f"the dataset has no labels y, a row for {noun}")
        return cls(data.y, noun)

    def __len__(self) -> int:
        return self.y.size(0)

    @property
    def labelled(self) -> Tensor:
        """Bool [R]: rows with a label; NaN and negative class ids are none, in all columns of y."""
        known = ~self.y.isnan() if self.y.is_floating_point() else self.y >= 0
        return known.flatten(1).any(1) if self.y.dim() > 1 else known

    @property
    def class_ids(self) -> Tensor | None:
        """Class ids [R]; None where labels are something else."""
        y = self.y.squeeze(1) if self.y.dim() == 2 and self.y.size(1) == 1 else self.y
        return None if y.dim() != 1 or y.is_floating_point() else y

    def require_class_ids(self, rule: str) -> Tensor:
        """Class ids [R], or `ConfigError` for the split of that name."""
        found = self.class_ids
        if found is None:
            what = f"y is {self.y.dtype} of {list(self.y.shape)}"
            problem = f"needs one class id for each of the {self.noun}, and {what}"
            raise ConfigError("data.split", problem, value=rule)
        return found

    def drawn(self, seed: int, fold: int, split_seed: int | None) -> tuple[Tensor, str]:
        """The labelled rows in the order of a draw, and the words that name the draw."""
        used = seed if split_seed is None else whole("data.split.split_seed", split_seed, 0)
        state = np.random.SeedSequence([used, whole("fold", fold, 0)]).generate_state(1, np.uint64)
        found = self.labelled.nonzero().squeeze(1)
        generator = torch.Generator().manual_seed(int(state[0]))
        order = torch.randperm(found.numel(), generator=generator)
        return found[order], f"seed={used}" + (f", fold={fold}" if fold else "")

    def split(self, train: Tensor, val: Tensor, test: Tensor, rule: str) -> Split:
        """The split by row numbers of each part; `rule` and sizes are its text."""
        masks = {part: torch.zeros(len(self), dtype=torch.bool) for part in PARTS}
        for mask, chosen in zip(masks.values(), (train, val, test), strict=True):
            mask[chosen] = True
        return self.masked(masks, rule)

    def masked(self, masks: Mapping[str, Tensor], rule: str) -> Split:
        """The split by masks, of which the labelled rows count.

        Raises:
            ConfigError: a part is empty, or two of them overlap.
        """
        labelled = self.labelled
        kept = {part: mask & labelled for part, mask in masks.items()}
        sizes = {part: int(mask.sum()) for part, mask in kept.items()}
        for part, size in sizes.items():
            if size == 0:
                have = f"of {len(self)} {self.noun}, {int(labelled.sum())} with a label"
                problem = f"the {part} split is empty ({have})"
                raise ConfigError("data.split", problem, value=rule)
        for one, other in combinations(PARTS, 2):
            shared = int((kept[one] & kept[other]).sum())
            if shared:
                problem = f"the {one} and {other} splits share {shared} {self.noun}"
                raise ConfigError("data.split", problem, value=rule)
        return Split(**kept, text=f"{rule}: {'/'.join(map(str, sizes.values()))}")


def check_fold(fold: int, folds: int, whose: str = "the dataset has") -> None:
    """Raise `ConfigError` unless there is a fold of that number."""
    if not 0 <= fold < folds:
        have = "one split, fold 0" if folds == 1 else f"{folds} splits, folds 0 to {folds - 1}"
        raise ConfigError("fold", f"out of range: {whose} {have}", value=fold)
