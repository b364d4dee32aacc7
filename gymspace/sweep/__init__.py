"""Spaces, draws and the sweep loop; pure of Hydra and of torch."""
