import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from tests.transformer_block.numerics import B, D, H, K, S, T, normal
from transformer_block.in_numpy.attention import (
    attention,
    attention_weights,
    merge_heads,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)
from transformer_block.in_numpy.masks import causal_mask, padding_mask


def projections():
    return normal(1, 3 * D, D), normal(2, 3 * D), normal(3, D, D), normal(4, D)


def some_visible(seed, *shape):
    """A random mask in which every query sees at least one key, so that PyTorch has an answer as well."""
    visible = np.random.default_rng(seed).random(shape) < 0.6
    visible[..., 0] = True
    return visible


def test_one_query_by_hand():
    # scores 2·1/√4 = 1 and 0, so that the weights are e/(e+1) and 1/(e+1)
    q, k, v = np.zeros((1, 1, 4)), np.zeros((1, 2, 4)), np.zeros((1, 2, 4))
    q[..., 0], k[:, 0, 0], v[:, 0, 1], v[:, 1, 2] = 2, 1, 1, 1
    weights = np.array([np.e, 1]) / (np.e + 1)
    np.testing.assert_allclose(attention_weights(q, k)[0, 0], weights)
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, v)[0, 0], [0, *weights, 0])


@pytest.mark.parametrize("batch", [(), (B,), (B, 6)])
@pytest.mark.parametrize("masked", [False, True])
def test_gathering_agrees_with_pytorch(batch, masked):
    q, k, v = normal(1, *batch, H, T, K), normal(2, *batch, H, S, K), normal(3, *batch, H, S, K)
    visible = some_visible(4, *batch, T, S) if masked else None
    mask = torch.tensor(visible[..., None, :, :]) if masked else None
    expected = functional.scaled_dot_product_attention(*map(torch.tensor, (q, k, v)), attn_mask=mask)
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, v, visible), expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(T, S), (1, S), (B, T, S), (B, 1, S), (1, T, S)])
def test_one_mask_serves_all_heads_and_may_stretch(shape):
    q, k = normal(1, B, H, T, K), normal(2, B, H, S, K)
    visible = some_visible(3, *shape)
    stretched = np.broadcast_to(visible, (B, T, S))
    weights = attention_weights(q, k, visible)
    for b, h in np.ndindex(B, H):
        np.testing.assert_array_equal(weights[b, h] > 0, stretched[b])
        np.testing.assert_allclose(weights[b, h], attention_weights(q[b], k[b], stretched[b])[h], rtol=1e-12)


def test_the_whole_part_is_projection_gathering_and_projection():
    x, (qkv, qkv_bias, out, out_bias) = normal(5, B, T, D), projections()
    heads = []
    for h in range(H):
        rows = [slice(part * D + h * K, part * D + (h + 1) * K) for part in range(3)]
        q, k, v = (x @ qkv[each].T + qkv_bias[each] for each in rows)
        scores = np.einsum("btk,bsk->bts", q, k) / np.sqrt(K)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        heads.append(np.einsum("bts,bsk->btk", weights, v))
    expected = np.concatenate(heads, axis=-1) @ out.T + out_bias
    np.testing.assert_allclose(attention(x, *projections(), H), expected, atol=1e-10)


def test_weights_come_beside_the_same_output():
    x, visible = normal(5, B, T, D), causal_mask(T)
    y, weights = attention(x, *projections(), H, visible, return_weights=True)
    np.testing.assert_array_equal(y, attention(x, *projections(), H, visible))
    assert weights.shape == (B, H, T, T)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    np.testing.assert_array_equal(weights[..., ~visible], 0)


def test_a_hidden_token_moves_nothing():
    x = normal(5, B, T, D)
    visible = padding_mask([3, 5], T)
    padded = x.copy()
    padded[0, 3:] = normal(6, 2, D)
    moved = (attention(x, *projections(), H, visible) != attention(padded, *projections(), H, visible)).any(
        -1
    )
    assert np.argwhere(moved).tolist() == [[0, 3], [0, 4]]


def test_a_query_that_sees_nothing_gathers_nothing():
    visible = causal_mask(T)
    visible[2] = False
    y, weights = attention(normal(5, B, T, D), *projections(), H, visible, return_weights=True)
    np.testing.assert_array_equal(weights[:, :, 2], 0)
    np.testing.assert_array_equal(y[:, 2], np.tile(projections()[-1], (B, 1)))
    assert np.isfinite(y).all()


def test_no_keys_and_no_queries_are_possible():
    q, none = normal(1, H, T, K), np.empty((H, 0, K))
    np.testing.assert_array_equal(scaled_dot_product_attention(q, none, none), np.zeros((H, T, K)))
    assert attention(np.empty((B, 0, D)), *projections(), H).shape == (B, 0, D)


def test_scores_beyond_the_range_of_exp_keep_their_softmax():
    np.testing.assert_array_equal(softmax(np.array([1e4, 0.0, -1e4])), [1, 0, 0])
    np.testing.assert_allclose(softmax(np.array([1e4, 1e4, 0.0])), [0.5, 0.5, 0])
    np.testing.assert_allclose(softmax(np.array([-1e4, -1e4])), [0.5, 0.5])


def test_nan_is_not_hidden():
    weights = softmax(np.array([[0.0, np.nan], [0.0, 0.0]]))
    assert np.isnan(weights).tolist() == [[True, True], [False, False]]


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
    x, parts = normal(5, T, D, dtype=dtype), [part.astype(dtype) for part in projections()]
    y, weights = attention(x, *parts, H, causal_mask(T), return_weights=True)
    assert y.dtype == weights.dtype == dtype


def test_a_head_holds_neighboring_features():
    x = normal(1, B, T, D)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, K)
    np.testing.assert_array_equal(heads[:, 1], x[..., K : 2 * K])
    np.testing.assert_array_equal(merge_heads(heads), x)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"qkv": np.ones((D, 3 * D))}, "qkv must have shape (36, 12); got (12, 36)"),
        ({"qkv_bias": np.ones(D)}, "qkv_bias must have shape (36,); got (12,)"),
        ({"out": np.ones((D, D + 1))}, "out must have shape (12, 12); got (12, 13)"),
        ({"out_bias": np.ones(3 * D)}, "out_bias must have shape (12,); got (36,)"),
        ({"n_heads": 5}, "d_model 12 is not divisible by n_heads 5"),
        ({"n_heads": 0}, "d_model 12 is not divisible by n_heads 0"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    names = ("qkv", "qkv_bias", "out", "out_bias")
    arguments = dict(zip(names, projections(), strict=True)) | {"n_heads": H} | wrong
    with pytest.raises(ValueError, match=r"must|divisible") as refusal:
        attention(normal(5, B, T, D), **arguments)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(T,), (T, T + 1), (B + 1, T, T), (1, B, T, T)])
def test_a_mask_that_does_not_stretch_over_the_scores_is_refused(shape):
    visible = np.ones(shape, bool)
    with pytest.raises(ValueError, match="visible has shape") as refusal:
        attention(normal(5, B, T, D), *projections(), H, visible)
    assert str(refusal.value) == f"visible has shape {shape}, which does not broadcast to (2, 5, 5)"


@pytest.mark.usefixtures("unchecked")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="visible must be boolean, True where a key is seen; got float64"):
        attention(normal(5, B, T, D), *projections(), H, np.ones((T, T)))
