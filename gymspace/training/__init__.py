"""One trial: losses, metrics, the epoch loop and what it writes."""
