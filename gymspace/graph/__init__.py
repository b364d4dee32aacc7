"""What a graph is, where it comes from, how its nodes are split."""
