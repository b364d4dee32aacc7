"""Molecules split by scaffold: no ring system on both sides."""

import sys
from itertools import combinations

import pytest
import torch
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.scaffolds import scaffold
from gymspace.graph.task import load_source, split_task
from gymspace.spec import parse

SMILES = ["Cc1ccccc1", "c1ccccc1O", "c1ccccc1N", "c1ccccc1CC", "C1CCCCC1C", "C1CCCCC1O"]
SMILES += ["c1ccncc1", "c1ccncc1C", "CCO", "CC"]


def molecules(smiles=SMILES, y=None):
    return Data(smiles=list(smiles), y=torch.zeros(len(smiles)) if y is None else y)


def rows(mask):
    return mask.nonzero().squeeze(1).tolist()


def test_groups_go_to_the_parts_by_their_size():
    split = scaffold(molecules(), train=0.6, val=0.2)
    assert rows(split.train) == [0, 1, 2, 3, 4, 5]
    assert rows(split.val) == [6, 7]
    assert rows(split.test) == [8, 9]  # of no ring: a scaffold of its own
    assert split.text == "scaffold(train=0.6, val=0.2): 6/2/2"


def test_a_group_that_does_not_fit_goes_to_the_next_part_and_a_smaller_one_fills_up():
    split = scaffold(molecules(), train=0.5, val=0.2)
    assert rows(split.train) == [0, 1, 2, 3]
    assert rows(split.val) == [4, 5]
    assert rows(split.test) == [6, 7, 8, 9]


def test_molecules_without_a_label_are_in_no_part():
    """Field case C3."""
    y = torch.zeros(10)
    y[[0, 6]] = torch.nan
    split = scaffold(molecules(y=y), train=0.6, val=0.2)
    assert not (split.train | split.val | split.test)[[0, 6]].any()


def test_real_molecules_share_no_scaffold(shared_data, scratch):
    spec = parse(
        {
            "dataset": "bace",
            "loss": "bce",
            "data": {"root": str(shared_data), "cache": str(scratch), "split": "scaffold"},
        }
    )
    task = split_task(spec, load_source(spec))
    smiles, split = task.source.data.smiles, task.split
    found = [
        {MurckoScaffoldSmiles(smiles=smiles[n], includeChirality=False) for n in rows(mask)}
        for mask in (split.train, split.val, split.test)
    ]
    assert not any(one & other for one, other in combinations(found, 2))
    assert split.text == "scaffold(train=0.8, val=0.1): 1210/151/152"


@pytest.mark.parametrize(
    ("data", "arguments", "line"),
    [
        (Data(y=torch.zeros(3)), {}, "needs molecules: a text 'smiles' in each graph"),
        (molecules(["CC", "C1C"]), {}, "RDKit cannot read the molecule of graph 1, 'C1C'"),
        (molecules(), {"train": 0.9, "val": 0.2}, "sum to more than 1"),
        (molecules(), {"fold": 1}, "a scaffold split has one split, fold 0"),
        (molecules(["CC"] * 9), {}, "the train split is empty"),
    ],
)
def test_what_cannot_be_split_is_one_line(data, arguments, line):
    with pytest.raises(ConfigError) as caught:
        scaffold(data, **arguments)
    assert line in str(caught.value)


def test_a_missing_rdkit_is_named(monkeypatch):
    """Field case F4."""
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ConfigError) as caught:
        scaffold(molecules())
    assert str(caught.value) == (
        "data.split=scaffold: needs the package rdkit, which is not installed"
        " (pip install gymspace[molecules])"
    )
