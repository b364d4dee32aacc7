"""Trials on disk, read as tables; imports no torch."""
