import pytest
import torch
from torch_geometric.data import Data

from gymspace import registry
from gymspace.errors import ConfigError
from gymspace.graph.datasets import digits, pyg
from gymspace.graph.splits import own, per_class, random
from gymspace.schema import Component

NAN = float("nan")
FIELDS = ("train", "val", "test")


def labelled(y, **masks):
    y = torch.as_tensor(y)
    return Data(
        x=torch.ones(len(y), 1), y=y, edge_index=torch.empty(2, 0, dtype=torch.long), **masks
    )


def mask(*nodes, size=6):
    found = torch.zeros(size, dtype=torch.bool)
    found[list(nodes)] = True
    return found


def nodes(split):
    return [getattr(split, part).nonzero().squeeze(1).tolist() for part in FIELDS]


def same(one, other):
    return all(torch.equal(getattr(one, part), getattr(other, part)) for part in FIELDS)


THREE = labelled([0, 1, 2] * 20)
DRAWS = [
    lambda data, **args: random(data, **args),
    lambda data, **args: per_class(data, val=10, **args),
    lambda data, **args: per_class(data, val_per_class=4, test=20, **args),
]


def test_per_class_takes_as_many_of_each_and_says_so():
    data = digits()
    split = per_class(data, seed=3)
    assert split.text == "per_class(train=5, val=100, seed=0): 50/100/1647"
    assert data.y[split.train].bincount().tolist() == [5] * 10
    assert split.train.dtype == torch.bool


def test_per_class_draws_as_shchur_et_al_and_as_planetoid():
    split = per_class(digits(), seed=0, train=20, val_per_class=30)
    assert split.text == "per_class(train=20, val_per_class=30, seed=0): 200/300/1297"
    assert digits().y[split.val].bincount().tolist() == [30] * 10
    split = per_class(digits(), seed=0, train=20, val=500, test=1000)
    assert split.text == "per_class(train=20, val=500, test=1000, seed=0): 200/500/1000"


def test_random_takes_fractions_and_says_so():
    assert random(THREE, seed=0).text == "random(train=0.6, val=0.2, seed=0): 36/12/12"
    odd = random(labelled([0] * 7), seed=0, train=0.5, val=0.25)
    assert odd.text == "random(train=0.5, val=0.25, seed=0): 4/1/2"


@pytest.mark.parametrize("draw", DRAWS)
def test_drawn_splits_are_disjoint_and_reproducible(draw):
    split = draw(THREE, seed=0)
    assert sum(getattr(split, part).int() for part in FIELDS).max() == 1
    assert same(split, draw(THREE, seed=0))


@pytest.mark.parametrize("draw", DRAWS)
def test_the_split_is_the_same_for_all_repeats_unless_asked_otherwise(draw):
    assert same(draw(THREE, seed=0), draw(THREE, seed=1))
    redrawn = [draw(THREE, seed=seed, split_seed=None) for seed in (0, 1)]
    assert not same(*redrawn)
    assert ["seed=1" in split.text for split in redrawn] == [False, True]


@pytest.mark.parametrize("draw", DRAWS)
def test_each_fold_and_each_split_seed_is_another_draw(draw):
    first, fold, seeded = (
        draw(THREE, seed=0),
        draw(THREE, seed=0, fold=1),
        draw(THREE, seed=0, split_seed=1),
    )
    assert not same(first, fold)
    assert not same(first, seeded)
    assert not same(fold, seeded)
    assert "seed=0, fold=1" in fold.text


@pytest.mark.parametrize("draw", DRAWS)
def test_drawing_leaves_the_global_generator_alone(draw):
    before = torch.get_rng_state()
    draw(THREE, seed=0)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("draw", DRAWS)
def test_nodes_without_a_label_are_in_no_drawn_split(draw):
    """Field case C3: -1 is no class and its nodes are not drawn."""
    hidden = torch.arange(120) % 2 == 0
    data = labelled(torch.where(hidden, -1, torch.arange(120) % 3))
    split = draw(data, seed=0)
    assert not any((getattr(split, part) & hidden).any() for part in FIELDS)


def test_nan_is_no_label_and_minus_one_is_a_number():
    """Field case C3: a node of several tasks counts if one of them is labelled."""
    assert "3/1/1" in random(labelled([NAN, -1.0, -1.0, 0.5, 2.0, 3.0]), seed=0).text
    tasks = labelled([[NAN, NAN], [NAN, 1], [1, 1], [1, 0], [0, NAN], [0, 0]])
    split = random(tasks, seed=0)
    assert "3/1/1" in split.text
    assert not any(getattr(split, part)[0] for part in FIELDS)


def test_own_takes_the_masks_that_the_dataset_brings(cora_root, tmp_path):
    data = pyg(cora_root, tmp_path, "Planetoid", "Cora")
    split = own(data)
    assert torch.equal(split.train, data.train_mask)
    sizes = [int(data[f"{part}_mask"].sum()) for part in FIELDS]
    assert split.text == f"own: {sizes[0]}/500/{sizes[2]}"


def test_own_takes_the_fold_of_several_splits():
    folds = {"train_mask": [mask(0), mask(1)], "val_mask": [mask(1), mask(2)]}
    stacked = {name: torch.stack(masks, dim=1) for name, masks in folds.items()}
    data = labelled([0, 1] * 3, test_mask=mask(4, 5), **stacked)
    assert nodes(own(data, fold=1)) == [[1], [2], [4, 5]]
    assert own(data, fold=1).text == "own(fold=1): 1/1/2"
    with pytest.raises(ConfigError, match=r"fold=2: out of range: .* 2 splits, folds 0 to 1"):
        own(data, fold=2)


def test_own_takes_the_ten_splits_of_a_real_graph(shared_data, tmp_path):
    data = pyg(shared_data, tmp_path, "HeterophilousGraphDataset", "Minesweeper", "heterophilous")
    assert {own(data, fold).text for fold in range(10)} == {
        f"own(fold={fold}): 5000/2500/2500" for fold in range(10)
    }


def test_own_leaves_out_nodes_without_a_label():
    """Field case C3: a mask over a node without a label does not count it."""
    data = labelled([0, -1, 1, -1, 0, 1], train_mask=mask(0, 1), val_mask=mask(2, 3))
    data.test_mask = mask(4, 5)
    assert nodes(own(data)) == [[0], [2], [4, 5]]


def test_one_class_and_a_train_mask_of_one_node_are_splits():
    """Field case E4: few nodes, one class, no edges."""
    assert random(labelled([0] * 3), seed=0, train=0.34, val=0.33).text.endswith(": 1/1/1")
    assert per_class(labelled([2] * 3), seed=0, train=1, val=1).text.endswith(": 1/1/1")


@pytest.mark.parametrize("part", FIELDS)
def test_an_empty_own_split_is_refused(part):
    """Field case E4: an empty split, also one whose nodes all lack a label."""
    masks = {"train_mask": mask(0), "val_mask": mask(1), "test_mask": mask(2)}
    with pytest.raises(ConfigError, match=rf"data\.split=own: the {part} split is empty"):
        own(labelled([0] * 6, **{**masks, f"{part}_mask": mask()}))
    with pytest.raises(ConfigError, match=rf"data\.split=own: the {part} split is empty"):
        own(labelled([0, 0, 0, -1, -1, -1], **{**masks, f"{part}_mask": mask(3)}))


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: random(THREE, 0, train=0.0), "the train split is empty"),
        (lambda: random(THREE, 0, val=0.001), "the val split is empty"),
        (lambda: random(THREE, 0, train=0.8), "the test split is empty"),
        (lambda: per_class(THREE, 0, train=10, val=30), "the test split is empty"),
        (
            lambda: random(labelled([-1] * 6), 0),
            "the train split is empty (of 6 nodes, 0 with a label)",
        ),
    ],
)
def test_an_empty_drawn_split_is_refused(draw, says):
    """Field case E4: a split that is drawn may come out empty too."""
    with pytest.raises(ConfigError) as caught:
        draw()
    assert caught.value.key == "data.split"
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: random(THREE, 0, train=0.9), "data.split: train=0.9 and val=0.2 sum to more than"),
        (lambda: random(THREE, 0, train=60), "data.split.train=60: must be a number from 0 to 1"),
        (lambda: random(THREE, 0, split_seed=-1), "data.split.split_seed=-1: must be a whole"),
        (lambda: per_class(THREE, 0, train=0), "data.split.train=0: must be a whole number of 1"),
        (lambda: per_class(THREE, 0, train=21), "class 0 has 20 labelled nodes, asked are 21"),
        (
            lambda: per_class(labelled([0] * 9 + [4] * 3), 0, train=2, val_per_class=2),
            "class 4 has 3 labelled nodes, asked are 2 for train and 2 for val",
        ),
        (lambda: per_class(THREE, 0, val=46), "data.split.val=46: only 45 nodes are left"),
        (lambda: per_class(THREE, 0, val=5, test=41), "data.split.test=41: only 40 nodes are left"),
        (lambda: per_class(THREE, 0, val=5, val_per_class=5), "val=5 or val_per_class=5, not both"),
        (lambda: per_class(labelled([0.5, 1.5]), 0), "needs one class id for each of the nodes"),
        (lambda: random(Data(x=torch.ones(3, 1)), 0), "the dataset has no labels y"),
        (lambda: own(THREE), "no train_mask and no val_mask and no test_mask"),
        (
            lambda: own(labelled([0] * 6, train_mask=mask(0), val_mask=mask(0), test_mask=mask(1))),
            "the train and val splits share 1 nodes",
        ),
        (
            lambda: own(
                labelled([0] * 6, train_mask=mask(0, size=5), val_mask=mask(0), test_mask=mask(1))
            ),
            "train_mask is [5] for 6 nodes",
        ),
    ],
)
def test_impossible_splits_are_named(draw, says):
    with pytest.raises(ConfigError) as caught:
        draw()
    assert says in str(caught.value)


def test_one_split_has_no_second_fold():
    data = labelled([0] * 6, train_mask=mask(0), val_mask=mask(1), test_mask=mask(2))
    with pytest.raises(
        ConfigError, match="fold=1: out of range: the dataset has one split, fold 0"
    ):
        own(data, fold=1)


def test_splits_are_built_by_name_with_arguments():
    component = Component.model_validate({"name": "per_class", "val": 10, "split_seed": None})
    split = registry.build("data.split", component, THREE, seed=7, fold=0)
    assert split.text == "per_class(train=5, val=10, seed=7): 15/10/35"
