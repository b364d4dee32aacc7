"""The study that the processes of a search share."""
