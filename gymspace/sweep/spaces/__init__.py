"""The space of a sweep: dimensions, conditions, unions, constraints."""
