"""Checkpoints: written whole or not at all, read without running code, random state included."""

import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch


class CheckpointError(Exception):
    """A checkpoint that cannot be read: cut short, corrupt, or not one of ours."""


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Write ``state`` (tensors, numbers, strings, containers of them) to ``path`` in one step.

    A reader, or a process killed half-way, finds the old file or the new one, never a part. It is
    not forced to disk, which can take seconds: after a power cut, `load` may refuse it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            torch.save(dict(state), file)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: Path) -> dict[str, Any]:
    """Read what `save` wrote, onto the CPU, with torch's ``weights_only``.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is cut short or corrupt, or holds more than plain data.
    """
    with path.open("rb") as file:
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch has no common class for what a broken file raises
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise CheckpointError(f"cannot read checkpoint {path}: {reason}") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"cannot read checkpoint {path}: it holds a {type(state).__name__}")
    return state


def rng_state() -> dict[str, Any]:
    """State of the generators of torch (CUDA too, once it is used), numpy and random."""
    kind, keys, position, has_gauss, gauss = np.random.get_state()
    state = {
        "torch": torch.get_rng_state(),
        "python": random.getstate(),
        "numpy": (kind, torch.from_numpy(np.asarray(keys, np.int64)), position, has_gauss, gauss),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_rng_state(state: Mapping[str, Any]) -> None:
    """Continue the generators where `rng_state` took them; CUDA's only if it was used then."""
    kind, keys, position, has_gauss, gauss = state["numpy"]
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    np.random.set_state((kind, np.asarray(keys, np.uint32), position, has_gauss, gauss))
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
