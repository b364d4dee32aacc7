"""The kinds of failure, as they are told from the exception."""

import errno

import numpy as np
import pytest
import torch

from gymspace.dist.faults import fault_of
from gymspace.errors import ConfigError


def of(error):
    return fault_of(error, 0, alone=True)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_every_library_s_lack_of_memory_is_one(error):
    fault = of(error)
    assert fault.kind == "memory"
    assert fault.error.startswith(f"out of memory: {type(error).__name__}")
    assert not fault.clean


@pytest.mark.parametrize("allocate", [torch.empty, np.empty])
def test_so_is_a_tensor_or_an_array_that_does_not_fit(allocate):
    with pytest.raises((RuntimeError, MemoryError)) as caught:
        allocate(10**14)
    assert of(caught.value).kind == "memory"


def test_other_errors_are_not():
    assert of(RuntimeError("shapes cannot be multiplied")).kind == "error"
    assert of(OSError(errno.ENOENT, "No such file")).kind == "error"
    assert of(ConfigError("optim.lr", "too large")).kind == "config"


def test_a_rank_among_others_is_not_used_again():
    assert of(ValueError()).clean
    assert not fault_of(ValueError(), 0, alone=False).clean
