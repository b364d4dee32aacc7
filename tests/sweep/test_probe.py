"""Designs that meet every choice of a space."""

import pytest

from gymspace.sweep.probe import probes
from gymspace.sweep.spaces.space import constrain, parse_space


def met(space, key):
    return {probe[key] for probe in probes(space) if key in probe}


def test_every_choice_is_met_with_the_others_at_their_first():
    space = parse_space({"model.layers_mp": [1, 2], "model.stage": ["stack", "skipsum"]})
    found = [tuple(probe.values()) for probe in probes(space)]
    assert found == [(1, "stack"), (1, "stack"), (2, "stack"), (1, "stack"), (1, "skipsum")]


@pytest.mark.parametrize(
    ("whole", "ends"),
    [
        ({"low": 16, "high": 64, "step": 16}, {16, 64}),
        ({"low": 0.0, "high": 0.5}, {0.0, 0.5}),
        ({"low": 1e-4, "high": 0.1, "log": True}, {1e-4, 0.1}),
    ],
)
def test_of_a_range_both_ends_are_met(whole, ends):
    assert met(parse_space({"optim.lr": whole}), "optim.lr") == ends


def test_what_exists_only_beside_another_choice_is_met_as_well():
    space = parse_space(
        {
            "model.layer": ["gcn", "gat"],
            "model.layer.heads": {"choices": [1, 2], "when": {"model.layer": "gat"}},
            "model.agg": {"choices": ["add", "max"], "with": "model.layer"},
        }
    )
    assert met(space, "model.layer.heads") == {1, 2}
    assert all("model.layer.heads" not in p for p in probes(space) if p["model.layer"] == "gcn")
    assert {(p["model.layer"], p["model.agg"]) for p in probes(space)} == {
        ("gcn", "add"), ("gat", "max"),
    }  # fmt: skip


def test_every_part_of_a_union_is_met():
    space = parse_space([{"model.layer": ["gcn"]}, {"model.layer": ["gat"], "model.agg": ["max"]}])
    assert met(space, "model.layer") == {"gcn", "gat"}
    assert met(space, "model.agg") == {"max"}


def test_constraints_hold_and_what_they_allow_is_met():
    space = parse_space({"model.layers_mp": [1, 2, 3], "model.layers_pre_mp": [1, 2, 3]})
    space = constrain(space, ["model.layers_mp + model.layers_pre_mp == 4"], {})
    assert met(space, "model.layers_mp") == {1, 2, 3}
    assert all(sum(probe.values()) == 4 for probe in probes(space))
