"""Layers that leave something behind in the process or in the data they were lent."""

import os

import torch
from torch.nn import functional
from torch_geometric.nn import SAGEConv


class InPlace(SAGEConv):
    """Drops out its input in place, which harms only in training."""

    def forward(self, x, edge_index):
        return super().forward(functional.dropout(x, 0.5, self.training, inplace=True), edge_index)


class Doubling(SAGEConv):
    """Changes torch's default dtype."""

    def forward(self, x, edge_index):
        if self.training:
            torch.set_default_dtype(torch.float64)
        return super().forward(x, edge_index)


class Leaving(SAGEConv):
    """Changes the working directory."""

    def forward(self, x, edge_index):
        os.chdir("/")
        return super().forward(x, edge_index)


class Frozen(SAGEConv):
    """Turns gradients off for good."""

    def forward(self, x, edge_index):
        torch._C._set_grad_enabled(False)
        return super().forward(x, edge_index)


class Talking(SAGEConv):
    """Prints."""

    def forward(self, x, edge_index):
        print("so I was called")
        return super().forward(x, edge_index)
