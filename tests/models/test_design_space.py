"""Designs drawn from GraphGym's whole space: each is built, and trains."""

from itertools import count

import pytest
import torch
import yaml

from gymspace.__main__ import config_dir
from gymspace.models.model import build_model
from gymspace.spec import parse
from gymspace.sweep.draws.draw import Random
from gymspace.sweep.plan import assemble
from gymspace.sweep.spaces.space import parse_space
from gymspace.training.optim import build_optimizer
from tests.models.designs import loss_of, toy_graph

FILE = config_dir() / "experiment" / "design_space.yaml"
SPACE = parse_space(yaml.safe_load(FILE.read_text())["sweep"]["space"])
DESIGNS, PARTS = 300, 10


def drawn(part: int):
    """Every tenth of the drawn designs, from ``part`` on."""
    draw = Random(SPACE, n=DESIGNS, seed=1)
    for number in count():
        if (choices := draw.ask()) is None:
            return
        if number % PARTS == part:
            yield choices


@pytest.mark.parametrize("part", range(PARTS))
def test_a_drawn_design_gives_scores_and_every_weight_a_gradient(part):
    graph, seen = toy_graph(), 0
    for choices in drawn(part):
        spec = parse(assemble(choices, {"model": {"dim_inner": 16}}, {}, dict))
        torch.manual_seed(0)
        model = build_model(spec.model, 4, 3).double()
        assert model(graph).shape == (6, 3), choices
        loss_of(model, graph).backward()
        grads = [parameter.grad for parameter in model.parameters()]
        assert all(grad is not None and grad.isfinite().all() for grad in grads), choices
        assert any(grad.abs().max() > 0 for grad in grads), choices
        build_optimizer(spec.optim, model.parameters()).step()
        assert all(p.isfinite().all() for p in model.parameters()), choices
        seen += 1
    assert seen == DESIGNS // PARTS
