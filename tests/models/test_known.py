"""What a model may know of the data, as a value."""

from dataclasses import replace

import torch

from gymspace.models.known import Known
from gymspace.schema import Component


def known(*degrees):
    encodings = (Component.model_validate({"name": "lap", "k": 3}),)
    return Known(edge_dim=2, degrees=torch.tensor(degrees), encodings=encodings, nodes=5)


def test_those_that_say_the_same_are_equal():
    assert known(1, 2) == known(1, 2)
    assert hash(known(1, 2)) == hash(known(1, 2))
    assert Known() == Known() != known(1, 2)


def test_those_that_say_something_else_are_not():
    changes = {"edge_dim": 3, "degrees": None, "encodings": (), "nodes": 6}
    others = [replace(known(1, 2), **{name: value}) for name, value in changes.items()]
    assert len({known(1, 2), known(1, 3), known(1, 2, 0), *others}) == 7
    assert known(1, 2) != "known"
