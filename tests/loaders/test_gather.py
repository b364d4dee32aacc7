"""Rows gathered by our kernel are those of torch's indexing, bit for bit."""

import pytest
import torch

from gymspace.loaders.gather import Buffer, gather

INDEX = torch.tensor([5, 0, 5, 3])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
@pytest.mark.parametrize("shape", [(6,), (6, 3), (6, 2, 16)])
def test_rows_are_those_of_indexing(dtype, shape):
    table = torch.randn(shape).mul(9).to(dtype)
    assert torch.equal(gather(table, INDEX), table[INDEX])
    assert torch.equal(gather(table, INDEX.int()), table[INDEX])


def test_nan_and_its_bits_are_kept():
    table = torch.tensor([[float("nan"), -0.0], [float("inf"), 1.0]])
    rows = gather(table, torch.tensor([1, 0]))
    assert torch.equal(rows.view(torch.int32), table[[1, 0]].view(torch.int32))


@pytest.mark.parametrize("row", [6, -1])
def test_a_row_that_is_not_there_is_an_error_and_nothing_is_read(row):
    with pytest.raises(IndexError, match=f"row {row} of a table with 6 rows"):
        gather(torch.zeros(6, 2), torch.tensor([0, row]))


def test_no_rows():
    assert gather(torch.zeros(6, 2), INDEX[:0]).shape == (0, 2)


def test_out_must_fit():
    with pytest.raises(ValueError, match="out: must be"):
        gather(torch.zeros(6, 2), INDEX, torch.zeros(4, 3))
    with pytest.raises(ValueError, match="contiguous"):
        gather(torch.zeros(2, 6).T, INDEX)


def test_a_buffer_is_the_same_memory_each_time_and_grows():
    table, buffer = torch.randn(6, 3), Buffer()
    first = buffer.gather(table, INDEX)
    second = buffer.gather(table, INDEX[:2])
    assert torch.equal(second, table[INDEX[:2]])
    assert first.data_ptr() == second.data_ptr()
    many = INDEX.repeat(100)
    assert torch.equal(buffer.gather(table, many), table[many])
