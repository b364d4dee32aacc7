"""Transforms keep what edges carry with their edges."""

import pytest
import torch
from torch_geometric.data import Data

from gymspace import registry
from gymspace.schema import Component

# 0 - 1 with a loop at 1, and 2 -> 0; nodes 3 and 4 have no edges.
INDEX = torch.tensor([[0, 1, 1, 2], [1, 1, 0, 0]])
# (edges, feature of each) that are left
LEFT = {
    "remove_self_loops": ({(0, 1): 0, (1, 0): 2, (2, 0): 3}, 5),
    "largest_component": ({(0, 1): 0, (1, 1): 1, (1, 0): 2, (2, 0): 3}, 3),
    "to_undirected": ({(0, 1): 2, (1, 0): 2, (1, 1): 2, (2, 0): 3, (0, 2): 3}, 5),
}


@pytest.mark.parametrize("name", LEFT)
@pytest.mark.parametrize("fields", [("edge_attr",), ("edge_weight",), ("edge_attr", "edge_weight")])
def test_what_edges_carry_goes_with_them(name, fields):
    """Field case E2: also the features, also the weights, also both."""
    data = Data(x=torch.eye(5), edge_index=INDEX, y=torch.arange(5))
    for field in fields:
        data[field] = (
            torch.arange(4.0).reshape(4, -1) if field == "edge_attr" else torch.arange(4.0)
        )
    found = registry.build("data.transform", Component(name=name))(data)
    edges, nodes = LEFT[name]
    assert found.num_nodes == nodes
    ends = [tuple(pair) for pair in found.edge_index.T.tolist()]
    for field in fields:
        assert dict(zip(ends, found[field].flatten().tolist(), strict=True)) == edges


def test_making_edges_undirected_leaves_their_labels_and_keeps_the_earlier_time():
    ends = torch.tensor([[0, 1, 2], [1, 0, 1]])
    labels = {
        "edge_label": torch.tensor([0, 1, 1]),
        "train_mask": torch.tensor([True, False, True]),
    }
    data = Data(x=torch.eye(4), edge_index=ends, edge_label_index=ends.clone(), **labels)
    data.edge_time = torch.tensor([10, 20, 30])
    found = registry.build("data.transform", Component(name="to_undirected"))(data)
    assert found.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert found.edge_time.tolist() == [10, 10, 30, 30]
    assert torch.equal(found.edge_label_index, ends)
    assert all(torch.equal(found[name], value) for name, value in labels.items())
    assert data.edge_index.size(1) == 3
