"""Explore the design space of graph neural networks."""
