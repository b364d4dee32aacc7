"""Batches that are not the whole graph: neighbours sampled over a graph in columns."""
