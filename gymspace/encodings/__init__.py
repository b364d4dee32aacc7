"""Positional and structural encodings: computed of a graph, made features by a model."""
