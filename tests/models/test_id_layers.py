"""Identity-aware layers: the plain ones where no node is marked, their own weights where one is."""

import pytest
import torch

from gymspace.errors import ConfigError
from tests.graph.toys import INDICES
from tests.models.designs import toy_graph
from tests.models.twins import layer_of, layers_in, params, results

PLAIN = {"idgcn": "gcn", "idsage": "sage", "idgat": "gat", "idgin": "gin"}
# What the plain layer calls our weights, where that differs.
RENAMED = {"map.weight": "conv.lin.weight"}
OWN = ("weight_id", "map_id", "neighbour_id", "self_id", "mlp_id")
MARKS = torch.tensor([True, False, False, True, False, False])


def marked(edges="awkward", marks=MARKS):
    return toy_graph(edges).with_encodings({"identity": marks})


def plain_of(layer, name, **args):
    """The plain layer with the common weights of ``layer``."""
    plain = layer_of(PLAIN[name], **args)
    common = {RENAMED.get(n, n): p for n, p in layer.state_dict().items() if not n.startswith(OWN)}
    plain.load_state_dict(common)
    return plain


def test_every_layer_of_the_module_has_a_plain_one():
    assert set(PLAIN) == layers_in("id_layers")


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", PLAIN)
def test_without_identity_nodes_it_is_the_plain_layer(name, bias, edges):
    """With its gradients; those of the identity nodes' own weights are zero."""
    layer = layer_of(name, bias)
    plain = plain_of(layer, name, bias=bias)
    graph = marked(edges, torch.zeros(6, dtype=torch.bool))
    out, inputs, grads = results(lambda g: layer(g).x, layer, graph)
    expected = results(lambda g: plain(g).x, plain, graph)
    torch.testing.assert_close((out, inputs), expected[:2])
    for n, grad in grads.items():
        if n.startswith(OWN):
            assert not grad.any()
        else:
            torch.testing.assert_close(grad, expected[2][RENAMED.get(n, n)])


def summed(layer):
    """The common weights with the identity nodes' own added: the layer of identity nodes only."""
    state = layer.state_dict()
    for n in [n for n in state if n.startswith(OWN)]:
        own = next(own for own in OWN if n.startswith(own))
        common = n.replace(
            own, {"neighbour_id": "neighbour", "self_id": "self_"}.get(own, own[:-3])
        )
        state[common] = state[common] + state[n]
    return state


@pytest.mark.parametrize("edges", INDICES)
@pytest.mark.parametrize("name", ["idgcn", "idsage", "idgat"])
def test_where_all_are_identity_nodes_it_is_the_plain_layer_of_both_weights(name, edges):
    layer = layer_of(name)
    expected = layer_of(name)
    expected.load_state_dict(summed(layer))
    plain = plain_of(expected, name)
    graph = marked(edges, torch.ones(6, dtype=torch.bool))
    torch.testing.assert_close(layer(graph).x, plain(graph).x)


def test_identity_nodes_of_gin_have_a_second_mlp():
    layer, graph = layer_of("idgin", eps=0.5), marked()
    inner = layer.agg(graph, graph.x) + 1.5 * graph.x
    expected = layer.mlp(inner)
    expected[MARKS] += layer.mlp_id(inner[MARKS])
    torch.testing.assert_close(layer(graph).x, expected)


@pytest.mark.parametrize("name", PLAIN)
def test_which_nodes_feel_the_mark(name):
    """Messages of GCN and GAT change for those they reach; SAGE's and GIN's for the marked node."""
    layer = layer_of(name)
    mark = torch.zeros(6)
    mark[0] = 1
    moved = (layer(marked("ring", mark)).x - layer(marked("ring", torch.zeros(6))).x).abs().sum(1)
    reached = [0, 1] if name in ("idgcn", "idgat") else [0]
    assert (moved > 1e-9).nonzero().flatten().tolist() == reached


@pytest.mark.parametrize("name", PLAIN)
def test_marks_may_be_a_column_of_numbers(name):
    layer = layer_of(name)
    column = MARKS.float().view(-1, 1)
    assert torch.equal(layer(marked()).x, layer(marked(marks=column)).x)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("idgcn", 2 * 24 + 6),
        ("idsage", 4 * 24 + 6),
        ("idgat", 2 * 24 + 2 * 6 + 6),
        ("idgin", 2 * (24 + 6 + 36 + 6)),
    ],
)
def test_parameters_are_as_many_as_counted_by_hand(name, count):
    assert params(layer_of(name)) == count


@pytest.mark.parametrize("name", PLAIN)
def test_a_graph_that_does_not_mark_its_identity_nodes_is_told(name):
    with pytest.raises(ConfigError) as caught:
        layer_of(name)(toy_graph())
    assert str(caught.value) == (
        "model.layer: needs to know the identity nodes: encodings=[identity]"
    )
    with pytest.raises(ConfigError) as caught:
        layer_of(name)(marked(marks=torch.ones(6, 3)))
    assert str(caught.value) == (
        "encodings=identity: gives [6, 3] marks, not one for each of 6 nodes"
    )


def test_heads_that_do_not_divide_the_width_are_told():
    with pytest.raises(ConfigError, match=r"model.layer.heads=4: must divide .* width 6"):
        layer_of("idgat", heads=4)
