import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import G, H, some_kept, some_visible
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.scaled_dot_product import (
    attention_weights,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
)


def heads(*batch, groups=H):
    return normal(1, *batch, H, T, K), normal(2, *batch, groups, S, K), normal(3, *batch, groups, S, K)


def test_one_query_by_hand():
    # scores 2·1/√4 = 1 and 0, so that the weights are e/(e+1) and 1/(e+1)
    q, k, v = np.zeros((1, 1, 4)), np.zeros((1, 2, 4)), np.zeros((1, 2, 4))
    q[..., 0], k[:, 0, 0], v[:, 0, 1], v[:, 1, 2] = 2, 1, 1, 1
    weights = np.array([np.e, 1]) / (np.e + 1)
    np.testing.assert_allclose(attention_weights(q, k)[0, 0], weights)
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, v)[0, 0], [0, *weights, 0])


@pytest.mark.parametrize("batch", [(), (B,), (B, 7)])
@pytest.mark.parametrize("groups", [H, G, 1])
@pytest.mark.parametrize("masked", [False, True])
def test_gathering_agrees_with_pytorch(batch, groups, masked):
    q, k, v = heads(*batch, groups=groups)
    visible = some_visible(4, *batch, T, S) if masked else None
    mask = torch.tensor(visible[..., None, :, :]) if masked else None
    expected = functional.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)), attn_mask=mask, enable_gqa=True
    )
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, v, visible), expected, atol=1e-12)


def test_neighboring_heads_of_queries_share_a_head_of_keys():
    q, k, v = heads(B, groups=G)
    repeated = np.repeat(k, H // G, axis=1), np.repeat(v, H // G, axis=1)
    np.testing.assert_allclose(
        scaled_dot_product_attention(q, k, v), scaled_dot_product_attention(q, *repeated), atol=1e-14
    )


@pytest.mark.parametrize("shape", [(T, S), (1, S), (B, T, S), (B, 1, S), (1, T, S)])
def test_one_mask_serves_all_heads_and_may_stretch(shape):
    q, k, _ = heads(B)
    visible = some_visible(3, *shape)
    stretched = np.broadcast_to(visible, (B, T, S))
    weights = attention_weights(q, k, visible)
    for b, h in np.ndindex(B, H):
        np.testing.assert_array_equal(weights[b, h] > 0, stretched[b])
        np.testing.assert_allclose(weights[b, h], attention_weights(q[b], k[b], stretched[b])[h], rtol=1e-12)


@pytest.mark.parametrize("window", [None, 1, 3, 20])
def test_causal_hides_what_the_causal_mask_hides_beside_any_other_mask(window):
    q, k, _ = heads(B)
    visible, past = some_visible(3, B, T, S), causal_mask(T, S, window)
    np.testing.assert_array_equal(
        attention_weights(q, k, causal=True, window=window), attention_weights(q, k, past)
    )
    np.testing.assert_array_equal(
        attention_weights(q, k, visible, True, window), attention_weights(q, k, visible & past)
    )


def test_the_weights_are_there_to_be_looked_at():
    q, k, v = heads(B)
    saved = {}
    y = scaled_dot_product_attention(q, k, v, causal=True, saved=saved)
    np.testing.assert_array_equal(saved["weights"], attention_weights(q, k, causal=True))
    np.testing.assert_array_equal(y, saved["weights"] @ v)


def test_dropout_falls_on_the_weights_and_leaves_those_that_are_shown():
    q, k, v = heads(B)
    drop, saved = DropMask(some_kept(4, B, H, T, S), 0.3), {}
    y = scaled_dot_product_attention(q, k, v, drop=drop, saved=saved)
    weights = attention_weights(q, k)
    np.testing.assert_allclose(y, (weights * drop.keep / 0.7) @ v, atol=1e-14)
    np.testing.assert_array_equal(saved["weights"], weights)


def test_a_query_that_sees_nothing_gathers_nothing_and_has_no_gradient():
    q, k, v = heads(B)
    visible = some_visible(4, B, T, S)
    visible[1, 2] = False
    saved = {}
    assert (scaled_dot_product_attention(q, k, v, visible, saved=saved)[1, :, 2] == 0).all()
    np.testing.assert_array_equal(saved["weights"][1, :, 2], 0)
    dq, dk, dv = scaled_dot_product_attention_backward(normal(6, B, H, T, K), q, k, v, visible)
    np.testing.assert_array_equal(dq[1, :, 2], 0)
    assert all(np.isfinite(each).all() for each in (dq, dk, dv))


def test_no_keys_and_no_queries_are_possible():
    q, none = normal(1, H, T, K), np.empty((H, 0, K))
    np.testing.assert_array_equal(scaled_dot_product_attention(q, none, none), np.zeros((H, T, K)))
    dq, dk, _ = scaled_dot_product_attention_backward(q, q, none, none)
    np.testing.assert_array_equal(dq, 0)
    assert dk.shape == (H, 0, K)
    assert scaled_dot_product_attention(none, q, q).shape == (H, 0, K)


def test_scores_beyond_the_range_of_exp_keep_their_softmax():
    np.testing.assert_array_equal(softmax(np.array([1e4, 0.0, -1e4])), [1, 0, 0])
    np.testing.assert_allclose(softmax(np.array([1e4, 1e4, 0.0])), [0.5, 0.5, 0])
    np.testing.assert_allclose(softmax(np.array([-1e4, -1e4])), [0.5, 0.5])


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_tiny_scores_share_evenly_and_huge_ones_choose(scale):
    q, k, v = (scale * each.astype(np.float32) for each in heads())
    weights = attention_weights(q, k)
    assert np.isfinite(scaled_dot_product_attention(q, k, v)).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)
    np.testing.assert_allclose(weights.max(axis=-1), 1 if scale > 1 else 1 / S, rtol=1e-6)


def test_nan_is_not_hidden():
    weights = softmax(np.array([[0.0, np.nan], [0.0, 0.0]]))
    assert np.isnan(weights).tolist() == [[True, True], [False, False]]


def test_a_softmax_leaves_its_scores_alone():
    scores = normal(1, T, S)
    scores.setflags(write=False)
    softmax(scores)
    softmax(scores, some_visible(2, T, S))


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_softmax_sums_to_one_over_what_is_visible_and_ignores_the_rest(width, seed):
    rng = np.random.default_rng(seed)
    scores, visible = 5 * rng.normal(size=(7, width)), rng.random((7, width)) < 0.5
    weights = softmax(scores, visible)
    np.testing.assert_allclose(weights.sum(axis=-1), visible.any(axis=-1))
    np.testing.assert_array_equal(weights[~visible], 0)
    scores[~visible] = rng.normal(size=(~visible).sum())
    np.testing.assert_array_equal(softmax(scores, visible), weights)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept(dtype):
    q, k, v = (each.astype(dtype) for each in heads(groups=G))
    drop = DropMask(some_kept(4, H, T, S), 0.3)
    saved = {}
    y = scaled_dot_product_attention(q, k, v, causal=True, drop=drop, saved=saved)
    gradients = scaled_dot_product_attention_backward(q, q, k, v, causal=True, drop=drop, saved=saved)
    assert {each.dtype for each in (y, saved["weights"], *gradients)} == {np.dtype(dtype)}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"k": np.ones((4, S, K)), "v": np.ones((4, S, K))}, "n_heads 6 is not divisible by n_kv_heads 4"),
        ({"k": np.ones((0, S, K)), "v": np.ones((0, S, K))}, "n_heads 6 is not divisible by n_kv_heads 0"),
        (
            {"visible": np.ones((T, S + 1), bool)},
            "visible has shape (5, 10), which does not broadcast to (5, 9)",
        ),
        ({"window": 3}, "a window needs causal attention: it looks back"),
        ({"window": 0, "causal": True}, "window must be at least 1; got 0"),
        (
            {"drop": DropMask(np.ones((T, S), bool), 0.1)},
            "keep must have shape (6, 5, 9); got (5, 9)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = dict(zip("qkv", heads(), strict=True)) | wrong
    with pytest.raises(ValueError, match=r"must|divisible|broadcast|causal") as refusal:
        scaled_dot_product_attention(**arguments)
    assert str(refusal.value) == sentence
