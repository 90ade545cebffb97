import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, H, S, T
from transformer_block.in_numpy.masks import (
    additive_mask,
    causal_mask,
    key_padding_mask,
    multihead_attention_mask,
    padding_mask,
    scaled_dot_product_mask,
)


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


@given(st.integers(0, 7), st.integers(0, 9), st.integers(1, 10))
def test_a_window_hides_the_distant_past_as_well(T, S, window):
    visible = causal_mask(T, S, window)
    last = [t + (S - T) for t in range(T)]
    assert visible.tolist() == [[t - window < s <= t for s in range(S)] for t in last]


def test_a_window_of_no_key_is_refused():
    with pytest.raises(ValueError, match="window must be at least 1; got 0"):
        causal_mask(3, window=0)


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


def random_mask(*shape):
    return np.random.default_rng(3).random(shape) < 0.6


def test_scaled_dot_product_gets_one_mask_for_all_heads():
    visible = random_mask(B, T, S)
    converted = scaled_dot_product_mask(visible)
    assert converted.shape == (B, 1, T, S)
    np.testing.assert_array_equal(converted[:, 0], visible)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_additive_mask_is_0_where_a_key_is_seen_and_minus_infinity_elsewhere(dtype):
    visible = random_mask(B, T, S)
    converted = additive_mask(visible, dtype)
    assert converted.dtype == dtype
    assert (converted[visible] == 0).all()
    assert (converted[~visible] == -np.inf).all()


def test_an_additive_mask_is_float32_unless_asked_otherwise():
    assert additive_mask(random_mask(T, S)).dtype == np.float32


def test_multihead_attention_gets_the_hidden_keys_of_each_head():
    visible = random_mask(B, T, S)
    converted = multihead_attention_mask(visible, n_heads=H)
    assert converted.shape == (B * H, T, S)
    for b in range(B):
        for h in range(H):
            np.testing.assert_array_equal(converted[b * H + h], ~visible[b])


def test_multihead_attention_takes_one_mask_for_all_sequences_as_it_is():
    np.testing.assert_array_equal(multihead_attention_mask(causal_mask(T), H), ~causal_mask(T))


def test_key_padding_is_hidden_in_one_row_for_each_sequence():
    assert key_padding_mask(padding_mask([2, 0], S=3)).tolist() == [[False, False, True], [True] * 3]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(T, S), (B, T, S), (B, H, 1, S)])
def test_a_mask_that_tells_queries_apart_is_no_key_padding(shape):
    with pytest.raises(ValueError, match="the same keys for every query") as refusal:
        key_padding_mask(random_mask(*shape))
    assert str(refusal.value) == (
        f"visible must have shape (B, 1, S), the same keys for every query; got {shape}"
    )


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "convert",
    [scaled_dot_product_mask, additive_mask, lambda m: multihead_attention_mask(m, H), key_padding_mask],
)
def test_only_a_boolean_mask_over_queries_and_keys_is_converted(convert):
    with pytest.raises(TypeError, match="visible must be boolean, True where a key is seen; got float64"):
        convert(np.zeros((B, 1, S)))
    with pytest.raises(ValueError, match=re.escape(f"visible must have shape (..., T, S); got ({S},)")):
        convert(random_mask(S))


@pytest.mark.usefixtures("unchecked")
def test_multihead_attention_has_no_place_for_a_second_batch_axis():
    with pytest.raises(ValueError, match="or") as refusal:
        multihead_attention_mask(random_mask(B, H, T, S), H)
    assert str(refusal.value) == "visible must have shape (T, S) or (B, T, S); got (2, 3, 5, 9)"


@given(st.integers(0, 7), st.integers(0, 9), st.integers(1, 10))
def test_a_window_leaves_each_query_itself_and_the_keys_right_before_it(T, S, window):
    visible = causal_mask(T, S, window)
    assert visible.shape == (T, S)
    assert visible.dtype == bool
    for t, s in np.ndindex(T, S):
        assert visible[t, s] == (t + (S - T) - window < s <= t + (S - T))


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_that_shows_nothing_is_refused(window):
    with pytest.raises(ValueError, match=f"window must be at least 1; got {window}"):
        causal_mask(3, 5, window)
