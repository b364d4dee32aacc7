"""Blocks, stages, heads: how a design becomes a module."""
