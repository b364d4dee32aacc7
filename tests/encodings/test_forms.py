"""Forms of a number: bins, sines, and the number itself."""

import pytest
import torch

from gymspace.encodings.forms import FORMS, Form
from gymspace.errors import ConfigError
from tests.encodings.graphs import built, carrying, star, tensors


def bins(kind, dim, values):
    return Form(kind, dim).bins(torch.tensor(values, dtype=torch.float64).unsqueeze(1)).flatten()


def test_bounded_is_the_whole_part_up_to_a_last_one():
    assert bins("bounded", 4, [0, 1, 2.9, 3, 70]).tolist() == [0, 1, 2, 3, 3]


def test_equal_width_cuts_the_range():
    assert bins("equal_width", 4, [0, 0.9, 1.1, 2.5, 3.5, 4]).tolist() == [0, 0, 1, 2, 3, 3]


def test_balanced_puts_as_many_in_each():
    values = torch.arange(40.0).square().tolist()
    assert bins("balanced", 4, values).bincount().tolist() == [10] * 4


@pytest.mark.parametrize("kind", ["balanced", "equal_width"])
def test_values_that_are_all_alike_share_a_bin(kind):
    assert bins(kind, 5, [3.0] * 6).tolist() == [0] * 6
    assert len(bins(kind, 5, [])) == 0


def test_values_alike_but_for_rounding_share_a_bin():
    third = 1 / 3
    assert len(set(bins("balanced", 4, [third, third + 1e-16, third - 6e-17]).tolist())) == 1


def test_columns_have_bins_of_their_own():
    values = torch.tensor([[0.0, 100], [1, 0]])
    form = Form("equal_width", 2)
    assert form.bins(values).tolist() == [[0, 1], [1, 0]]
    assert form.features(values, form.bins(values)).tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


def test_position_is_made_of_sines_and_cosines():
    values = torch.tensor([[2.0]])
    found = Form("position", 4).features(values, None)
    expected = torch.tensor([2.0, 0.02])
    torch.testing.assert_close(found[0], torch.cat([expected.sin(), expected.cos()]))


def test_an_encoding_takes_any_form():
    for form in FORMS:
        args = {"form": form, **({} if form == "original" else {"dim": 4})}
        graph, encoding = carrying("degree", star(3), 4, **args), built("degree", 4, **args)
        assert encoding(graph).shape == (4, encoding.dim)
        assert torch.equal(encoding(graph)[1], encoding(graph)[3])
        assert not torch.equal(encoding(graph)[0], encoding(graph)[1])
    assert built("identity", 4, steps=3, form="bounded", dim=5).dim == 15


def test_bins_are_kept_beside_the_numbers():
    found = tensors("degree", star(3), 4, form="bounded", dim=3)
    assert found["degree.bin"].tolist() == [[2], [1], [1], [1]]
    assert found["degree"].flatten().tolist() == [3, 1, 1, 1]


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            {"form": "orignal"},
            "encodings.form=orignal: unknown form; choices: original, position, balanced,"
            " equal_width, bounded; did you mean original?",
        ),
        (
            {"dim": 4},
            "encodings.dim=4: form=original is the number itself: leave dim out, or take another"
            " form",
        ),
        ({"form": "position", "dim": 5}, "encodings.dim=5: must be even for form=position"),
        (
            {"form": "bounded", "dim": 0},
            "encodings.dim=0: must be a whole number of 1 or more",
        ),
    ],
)
def test_forms_that_cannot_be_are_told(args, line):
    with pytest.raises(ConfigError) as caught:
        built("degree", 4, **args)
    assert str(caught.value) == line
