import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer_block.in_torch.masks import causal_mask, padding_mask


def test_a_query_sees_itself_and_the_past():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@given(st.integers(0, 7), st.integers(0, 9))
def test_the_queries_are_the_last_positions(T, S):
    visible = causal_mask(T, S)
    assert visible.dtype == torch.bool
    assert visible.tolist() == [[s <= t + (S - T) for s in range(S)] for t in range(T)]


def test_a_mask_lies_on_the_device_asked_for_and_not_on_the_default_one():
    with torch.device("meta"):
        assert causal_mask(3, device=torch.device("cpu")).device.type == "cpu"


def test_padding_is_hidden_from_every_query():
    visible = padding_mask(torch.tensor([3, 0, 4]), S=4)
    assert visible.shape == (3, 1, 4)
    assert visible[:, 0].tolist() == [[True, True, True, False], [False] * 4, [True] * 4]


def test_lengths_may_be_a_list():
    assert torch.equal(padding_mask([1, 2], S=3), padding_mask(torch.tensor([1, 2]), S=3))


def test_masks_are_joined_by_and():
    both = padding_mask([3, 5], S=5) & causal_mask(5)
    assert both.tolist() == [[[s <= t and s < n for s in range(5)] for t in range(5)] for n in (3, 5)]


@pytest.mark.parametrize("length", [-1, 6])
def test_a_length_that_the_width_cannot_hold_is_refused(length):
    with pytest.raises(ValueError, match=re.escape(f"lengths must lie between 0 and S 5; got {length}")):
        padding_mask(torch.tensor([2, length]), S=5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("lengths", "dtype"), [([2.0, 3.0], "float32"), ([True, False], "bool")])
def test_lengths_are_counted_in_integers(lengths, dtype):
    with pytest.raises(TypeError, match=f"lengths must be integers; got {dtype}"):
        padding_mask(torch.tensor(lengths), S=5)
