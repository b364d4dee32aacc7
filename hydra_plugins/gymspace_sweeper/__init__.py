"""Hydra's way to gymspace's sweep loop."""
