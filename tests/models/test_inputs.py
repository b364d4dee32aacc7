"""What a model takes in: encoders and encodings before its layers, and nothing where none is."""

import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.graph.adjacency import Sparse
from gymspace.graph.graph import Graph
from gymspace.models.known import Known
from gymspace.models.model import build_model
from tests.encodings.graphs import component, prepare
from tests.graph.toys import INDICES
from tests.models.designs import descend, design

INDEX, NODES = INDICES["awkward"], 6


def graph(encodings=(), edges=INDEX, attr=3):
    x = torch.arange(NODES * 4).view(NODES, 4).remainder(5).double()
    made = Graph.of(x, edges, torch.ones(edges.size(1), attr).double() if attr else None)
    return made.with_encodings(prepare(encodings, edges, NODES))


def model(encodings=(), edge_dim=None, **keys):
    torch.manual_seed(0)
    known = Known(edge_dim, encodings=tuple(encodings), nodes=NODES, node_levels=(5,) * 4)
    return build_model(design(**keys), 4, 3, known).double()


def width(built):
    """Features that the first layer takes."""
    seen = []
    handle = built.body.register_forward_pre_hook(lambda part, inputs: seen.append(inputs[0]))
    built.eval()(graph(BOTH))
    handle.remove()
    return seen[0].x.size(1)


BOTH = (component("lap", k=3, dim=7), component("degree"))


def test_encodings_stand_beside_the_features():
    built = model(BOTH)
    assert width(built) == 4 + 7 + 1
    out = built.inputs(graph(BOTH))
    assert torch.equal(out.x[:, :4], graph().x)
    assert out.x[:, -1].tolist() == [2, 0, 2, 3, 0, 0]


def test_they_stand_beside_encoded_features_where_there_is_an_encoder():
    assert width(model(BOTH, node_encoder="integer")) == 6 + 7 + 1
    assert width(model(BOTH, node_encoder={"name": "linear", "dim": 9})) == 9 + 7 + 1
    assert width(model(node_encoder="linear")) == 6


def test_without_any_a_model_takes_features_as_they_are():
    assert model().inputs is None
    assert not any(name.startswith("inputs") for name in model().state_dict())


def test_layers_meet_encoded_edge_features():
    built = model(edge_dim=3, edge_encoder={"name": "linear", "dim": 8}, layer="general_edge")
    out = built.inputs(graph())
    assert out.links.attr.shape == (7, 8)
    assert built(graph()).shape == (6, 3)


def test_an_edge_encoder_leaves_sparse_features_sparse():
    built = model(edge_dim=3, edge_encoder="linear")
    out = built.inputs(graph().with_sparse_x())
    assert isinstance(out.nodes["node"].features, Sparse)


def test_an_edge_encoder_takes_a_graph_without_edges():
    """Field case E1."""
    edgeless = graph(edges=INDICES["edgeless"], attr=None)
    built = model(edge_dim=3, edge_encoder="linear", layer="general_edge")
    assert built.inputs(edgeless).links.attr.shape == (0, 6)
    assert built(edgeless).shape == (6, 3)


def test_an_edge_encoder_without_edge_features_is_told():
    with pytest.raises(ConfigError) as caught:
        model(edge_encoder="linear")
    problem = "the graph has no edge features (edge_attr)"
    assert str(caught.value) == f"model.edge_encoder=linear: {problem}"


def test_an_encoder_that_does_not_say_its_width_is_told():
    with pytest.raises(ConfigError, match=r"Plain: does not say its width \(dim_out\)"):
        model(node_encoder="tests.models.test_inputs:Plain")


class Plain(torch.nn.Linear):
    """A user's encoder that lacks something."""

    def __init__(self, dim_in: int):
        super().__init__(dim_in, 2)


@pytest.mark.parametrize("stage", ["stack", "skipconcat"])
@pytest.mark.parametrize("pre", [0, 1])
def test_all_of_it_learns(stage, pre):
    keys = {"node_encoder": "linear", "stage": stage, "layers_pre_mp": pre}
    encodings = (*BOTH, component("rwse", steps=4, dim=5), component("signnet", k=2, dim=4))
    before, after = descend(model(encodings, **keys).eval(), graph(encodings))
    assert after < before


@pytest.mark.parametrize(("layer", "read"), [("general_edge", True), ("gcn", False)])
def test_an_edge_encoder_that_no_layer_reads_is_not_trained(layer, read):
    """Field cases E2, E3: it would have no gradient, and ranks would wait for one."""
    built = model(edge_dim=3, edge_encoder="linear", layer=layer)
    assert built.inputs.idle is not read
    assert all(p.requires_grad is read for p in built.inputs.parameters())
    built(graph()).square().sum().backward()
    assert all(p.grad is not None for p in built.parameters() if p.requires_grad)
