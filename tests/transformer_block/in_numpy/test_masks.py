import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_block.in_numpy.masks import causal_mask, padding_mask


def test_a_query_sees_itself_and_the_past():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@given(st.integers(0, 7), st.integers(0, 9))
def test_the_queries_are_the_last_positions(T, S):
    visible = causal_mask(T, S)
    assert visible.shape == (T, S)
    assert visible.dtype == bool
    for t, s in np.ndindex(T, S):
        assert visible[t, s] == (s <= t + (S - T))


def test_new_tokens_see_all_of_the_cache():
    np.testing.assert_array_equal(causal_mask(2, 5), causal_mask(5)[-2:])


def test_padding_is_hidden_from_every_query():
    visible = padding_mask(np.array([3, 0, 4]), S=4)
    assert visible.shape == (3, 1, 4)
    assert visible[:, 0].tolist() == [[True, True, True, False], [False] * 4, [True] * 4]


def test_lengths_may_be_a_list():
    np.testing.assert_array_equal(padding_mask([1, 2], S=3), padding_mask(np.array([1, 2]), S=3))


def test_masks_are_joined_by_and():
    both = padding_mask([3, 5], S=5) & causal_mask(5)
    assert both.shape == (2, 5, 5)
    for b, t, s in np.ndindex(2, 5, 5):
        assert both[b, t, s] == (s <= t and s < (3, 5)[b])


@pytest.mark.parametrize("length", [-1, 6])
def test_a_length_that_the_width_cannot_hold_is_refused(length):
    with pytest.raises(ValueError, match=re.escape(f"lengths must lie between 0 and S 5; got {length}")):
        padding_mask(np.array([2, length]), S=5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("lengths", "dtype"), [([2.0, 3.0], "float64"), ([True, False], "bool")])
def test_lengths_are_counted_in_integers(lengths, dtype):
    with pytest.raises(TypeError, match=f"lengths must be integers; got {dtype}"):
        padding_mask(np.array(lengths), S=5)
