"""What the keys of a space have to be: such as make designs differ, and whole where numbers are."""

from typing import get_args

from pydantic import BaseModel

from gymspace.errors import ConfigError
from gymspace.spec import TrialSpec
from gymspace.sweep.spaces.dimension import Dimension
from gymspace.sweep.spaces.space import Space


def require_sensible(space: Space) -> None:
    """Look at the keys of all dimensions.

    Raises:
        ConfigError: several choices of a key that is in no id, though not zipped with another; a
            range of any number for a key that is a whole one.
    """
    for dimension in (d for part in space.parts for d in part.dimensions):
        _require_in_id(dimension)
        _require_whole(dimension)


def _require_in_id(dimension: Dimension) -> None:
    key = dimension.key
    apart = any(key == other or key.startswith(f"{other}.") for other in TrialSpec.NOT_IN_ID)
    if apart and dimension.zipped is None and dimension.size != 1:
        problem = "is in no id, so that its choices make no different designs: set it once"
        raise ConfigError(f"sweep.space.{key}", problem)


def _require_whole(dimension: Dimension) -> None:
    whole = dimension.range
    if whole is not None and whole.kind == "float" and _is_whole(dimension.key):
        hint = f"int(interval({int(whole.low)},{int(whole.high)}))"
        problem = f"must be a whole number, and this range has others: write {hint}"
        raise ConfigError(f"sweep.space.{dimension.key}", problem)


def _is_whole(key: str) -> bool:
    """Whether the spec has a whole number at ``key``, or none."""
    kind: object = TrialSpec
    for name in key.split("."):
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            return False
        field = kind.model_fields.get(name)
        kind = None if field is None else field.annotation
    return kind is int or int in get_args(kind)
