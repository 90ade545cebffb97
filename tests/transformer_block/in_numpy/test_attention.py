import numpy as np
import pytest

from tests.transformer_block.numerics import B, K, T, normal
from tests.transformer_block.parts import D, G, H, attention_arrays, gains, some_kept
from transformer_block.in_numpy.attention import attention, split_qkv
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.heads import QKNorm
from transformer_block.in_numpy.masks import causal_mask, padding_mask
from transformer_block.in_numpy.positions import rotary
from transformer_block.in_numpy.rms_norm import rms_norm


def attend(arrays, visible=None, **choices):
    return attention(**arrays, n_heads=H, visible=visible, **choices)


def by_the_formula(arrays, groups, *, qk_norm=None, rotary_base=None, keep=None, rate=0.0):
    """Each head on its own, with the rows of qkv cut out by hand."""
    x, qkv, bias = arrays["x"], arrays["qkv"], arrays["qkv_bias"]
    gathered = []
    for h in range(H):
        first = [h, H + h // (H // groups), H + groups + h // (H // groups)]
        rows = [slice(row * K, (row + 1) * K) for row in first]
        q, k, v = (x @ qkv[each].T + bias[each] for each in rows)
        if qk_norm is not None:
            q, k = rms_norm(q, qk_norm.q, qk_norm.eps), rms_norm(k, qk_norm.k, qk_norm.eps)
        if rotary_base is not None:
            q, k = rotary(q, base=rotary_base), rotary(k, base=rotary_base)
        scores = np.einsum("btk,bsk->bts", q, k) / np.sqrt(K)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        if keep is not None:
            weights = weights * keep[:, h] / (1 - rate)
        gathered.append(np.einsum("bts,bsk->btk", weights, v))
    return np.concatenate(gathered, axis=-1) @ arrays["out"].T + arrays["out_bias"]


@pytest.mark.parametrize("groups", [H, G, 1])
def test_it_is_projection_gathering_and_projection(groups):
    arrays = attention_arrays(groups)
    y = attend(arrays, n_kv_heads=groups)
    np.testing.assert_allclose(y, by_the_formula(arrays, groups), atol=1e-10)


def test_each_choice_takes_its_place_between_the_projections():
    arrays, norm = attention_arrays(), QKNorm(gains()["q_norm"], gains()["k_norm"], 1e-2)
    keep = some_kept(9, B, H, T, T)
    y = attend(arrays, n_kv_heads=G, qk_norm=norm, rotary_base=50.0, drop=DropMask(keep, 0.3))
    expected = by_the_formula(arrays, G, qk_norm=norm, rotary_base=50.0, keep=keep, rate=0.3)
    np.testing.assert_allclose(y, expected, atol=1e-10)


def test_unless_said_otherwise_every_head_has_keys_of_its_own():
    arrays = attention_arrays(H)
    np.testing.assert_array_equal(attend(arrays), attend(arrays, n_kv_heads=H))


def test_the_rows_of_qkv_make_queries_then_keys_then_values():
    projected = normal(1, B, T, D + 2 * G * K)
    q, k, v = split_qkv(projected, H, G)
    assert q.shape == (B, H, T, K)
    assert k.shape == v.shape == (B, G, T, K)
    np.testing.assert_array_equal(q[:, 2], projected[..., 2 * K : 3 * K])
    np.testing.assert_array_equal(k[:, 2], projected[..., D + 2 * K : D + 3 * K])
    np.testing.assert_array_equal(v[:, 2], projected[..., D + 5 * K : D + 6 * K])


def test_a_bias_that_is_missing_is_zero():
    arrays = attention_arrays(bias=False)
    zeros = arrays | {"qkv_bias": np.zeros(D + 2 * G * K), "out_bias": np.zeros(D)}
    np.testing.assert_array_equal(attend(arrays, n_kv_heads=G), attend(zeros, n_kv_heads=G))


def test_causal_is_the_causal_mask():
    arrays, visible = attention_arrays(H), padding_mask([3, 5], T)
    np.testing.assert_array_equal(attend(arrays, causal=True), attend(arrays, causal_mask(T)))
    np.testing.assert_array_equal(
        attend(arrays, visible, causal=True), attend(arrays, visible & causal_mask(T))
    )


def test_the_weights_are_there_to_be_looked_at():
    arrays, saved = attention_arrays(H), {}
    y = attend(arrays, causal=True, saved=saved)
    np.testing.assert_array_equal(y, attend(arrays, causal=True))
    assert saved["weights"].shape == (B, H, T, T)
    np.testing.assert_allclose(saved["weights"].sum(axis=-1), 1)
    np.testing.assert_array_equal(saved["weights"][..., ~causal_mask(T)], 0)


def test_a_hidden_token_moves_nothing():
    arrays, visible = attention_arrays(H), padding_mask([3, 5], T)
    padded = arrays["x"].copy()
    padded[0, 3:] = normal(6, 2, D)
    moved = (attend(arrays, visible) != attend(arrays | {"x": padded}, visible)).any(axis=-1)
    assert np.argwhere(moved).tolist() == [[0, 3], [0, 4]]


def test_a_query_that_sees_nothing_gathers_nothing():
    arrays, visible = attention_arrays(H), causal_mask(T)
    visible[2] = False
    y = attend(arrays, visible)
    np.testing.assert_array_equal(y[:, 2], np.tile(arrays["out_bias"], (B, 1)))
    assert np.isfinite(y).all()


def test_rotary_positions_tell_the_order_and_nothing_else_does():
    arrays, order = attention_arrays(H), [3, 0, 4, 1, 2]
    shuffled = arrays | {"x": arrays["x"][:, order]}
    np.testing.assert_allclose(attend(shuffled), attend(arrays)[:, order], atol=1e-12)
    turned = attend(shuffled, rotary_base=50.0) - attend(arrays, rotary_base=50.0)[:, order]
    assert np.abs(turned).max() > 1e-2


def test_a_sequence_needs_no_batch_and_may_be_a_token_or_none():
    arrays = attention_arrays(H)
    x = arrays["x"]
    np.testing.assert_allclose(
        attend(arrays | {"x": x[1]}, causal=True), attend(arrays, causal=True)[1], atol=1e-12
    )
    np.testing.assert_allclose(
        attend(arrays | {"x": x[:, :1]}, causal=True), attend(arrays, causal=True)[:, :1], atol=1e-12
    )
    assert attend(arrays | {"x": x[:, :0]}, causal=True, rotary_base=50.0).shape == (B, 0, D)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept(dtype):
    arrays = {name: array.astype(dtype) for name, array in attention_arrays().items()}
    norm = QKNorm(*(gain.astype(dtype) for gain in gains().values()))
    assert attend(arrays, n_kv_heads=G, causal=True, qk_norm=norm, rotary_base=50.0).dtype == dtype


def test_nan_is_not_hidden():
    arrays = attention_arrays(H)
    arrays["x"][1, 3] = np.nan
    y = attend(arrays, causal=True)
    assert np.isnan(y[1, 3:]).all()
    assert np.isfinite(y[0]).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"qkv": np.ones((D, 3 * D))}, "qkv must have shape (72, 24); got (24, 72)"),
        ({"n_kv_heads": G}, "qkv must have shape (48, 24); got (72, 24)"),
        ({"qkv_bias": np.ones(D)}, "qkv_bias must have shape (72,); got (24,)"),
        ({"out": np.ones((D, D + 1))}, "out must have shape (24, 24); got (24, 25)"),
        ({"out_bias": np.ones(3 * D)}, "out_bias must have shape (24,); got (72,)"),
        ({"n_heads": 5}, "d_model 24 is not divisible by n_heads 5"),
        ({"n_heads": 0}, "d_model 24 is not divisible by n_heads 0"),
        ({"n_kv_heads": 4}, "n_heads 6 is not divisible by n_kv_heads 4"),
        ({"n_kv_heads": 0}, "n_heads 6 is not divisible by n_kv_heads 0"),
        ({"x": np.ones(D)}, "x must have shape (..., T, D); got (24,)"),
        ({"n_heads": 8, "rotary_base": 50.0}, "head width 3 is odd; positions need pairs of features"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = attention_arrays(H) | {"n_heads": H} | wrong
    with pytest.raises(ValueError, match=r"must|divisible|odd") as refusal:
        attention(**arguments)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_tokens_of_integers_are_refused():
    with pytest.raises(TypeError, match="attention needs a floating dtype; got int64"):
        attend(attention_arrays(H) | {"x": np.ones((B, T, D), int)})


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(T,), (T, T + 1), (B + 1, T, T), (1, B, T, T)])
def test_a_mask_that_does_not_stretch_over_the_scores_is_refused(shape):
    with pytest.raises(ValueError, match="visible has shape") as refusal:
        attend(attention_arrays(H), np.ones(shape, bool))
    assert str(refusal.value) == f"visible has shape {shape}, which does not broadcast to (2, 5, 5)"


@pytest.mark.usefixtures("unchecked")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="visible must be boolean, True where a key is seen; got float64"):
        attend(attention_arrays(H), np.ones((T, T)))
