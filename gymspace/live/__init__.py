"""Sweeps in the browser while they run."""
