"""How designs are drawn from a space beforehand."""
