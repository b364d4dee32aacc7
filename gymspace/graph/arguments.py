"""Checks of the numbers that datasets and splits are asked for."""

from typing import Any

from gymspace.errors import ConfigError


def whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    """``value`` if it is a whole number from ``least`` to ``most``, else `ConfigError`."""
    number = isinstance(value, int) and not isinstance(value, bool)
    if number and value >= least and (most is None or value <= most):
        return value
    limit = f"of {least} or more" if most is None else f"from {least} to {most}"
    raise ConfigError(key, f"must be a whole number {limit}", value=value)


def fraction(key: str, value: Any) -> float:
    """``value`` as a float if it is a number from 0 to 1, else `ConfigError`."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ConfigError(key, "must be a number from 0 to 1", value=value)
