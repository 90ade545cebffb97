import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, T, normal, relative_error
from tests.transformer_block.parts import (
    D,
    G,
    H,
    attention_arrays,
    by_autograd,
    gains,
    largest_gap_in_slope,
    some_kept,
    some_visible,
)
from transformer_block.in_numpy.attention import AttentionGradients, attention, attention_backward
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.heads import QKNorm
from transformer_block.in_torch import dropout as torch_dropout
from transformer_block.in_torch import heads as torch_heads
from transformer_block.in_torch.attention import attention as torch_attention

# Each row differs from the others in several choices, so that every two of them meet.
CHOICES = [
    {"groups": H, "causal": False, "normed": False, "rotary_base": None, "masked": False, "rate": 0.0},
    {"groups": H, "causal": True, "normed": True, "rotary_base": 50.0, "masked": True, "rate": 0.3},
    {"groups": G, "causal": False, "normed": True, "rotary_base": None, "masked": True, "rate": 0.3},
    {"groups": G, "causal": True, "normed": False, "rotary_base": 50.0, "masked": False, "rate": 0.0},
    {"groups": 1, "causal": True, "normed": True, "rotary_base": None, "masked": False, "rate": 0.3},
    {"groups": 1, "causal": False, "normed": False, "rotary_base": 50.0, "masked": True, "rate": 0.0},
]


def both(groups, causal, normed, rotary_base, masked, rate):
    """One attention in both twins: functions of the arrays by name, gains among them."""
    shared = {"n_heads": H, "n_kv_heads": groups, "causal": causal, "rotary_base": rotary_base}
    visible = some_visible(8, B, T, T) if masked else None
    keep = some_kept(9, B, H, T, T) if rate else None

    def ours(function, q_norm=None, k_norm=None, **arguments):
        norm = QKNorm(q_norm, k_norm, 1e-2) if normed else None
        drop = DropMask(keep, rate) if rate else None
        return function(**arguments, **shared, visible=visible, qk_norm=norm, drop=drop)

    def theirs(q_norm=None, k_norm=None, **arguments):
        norm = torch_heads.QKNorm(q_norm, k_norm, 1e-2) if normed else None
        drop = torch_dropout.DropMask(torch.tensor(keep), rate) if rate else None
        mask = torch.tensor(visible) if masked else None
        return torch_attention(**arguments, **shared, visible=mask, qk_norm=norm, drop=drop)

    return ours, theirs


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("choices", CHOICES)
def test_the_gradients_are_those_of_autograd(choices, bias):
    arrays = attention_arrays(choices["groups"], bias=bias) | (gains() if choices["normed"] else {})
    (ours, theirs), dy = both(**choices), normal(10, B, T, D)
    y, expected = by_autograd(theirs, arrays, dy)
    assert relative_error(ours(attention, **arrays), y) < 1e-12
    gradients = ours(attention_backward, **arrays, dy=dy)
    for name, gradient in gradients._asdict().items():
        reference = expected.get(name)
        assert (gradient is None) == (reference is None), name
        if reference is not None:
            assert relative_error(gradient, reference) < 1e-11, name


@pytest.mark.parametrize("name", ["x", "qkv", "qkv_bias", "out", "out_bias", "q_norm", "k_norm"])
def test_each_gradient_is_that_of_central_differences(name):
    arrays, dy = attention_arrays() | gains(), normal(10, B, T, D)
    ours, _ = both(groups=G, causal=True, normed=True, rotary_base=50.0, masked=True, rate=0.3)
    gradients = ours(attention_backward, **arrays, dy=dy)

    def loss(moved):
        return np.sum(dy * ours(attention, **(arrays | {name: moved})))

    assert largest_gap_in_slope(loss, arrays[name], getattr(gradients, name)) < 1e-6


def test_what_the_forward_pass_saved_gives_the_same_gradients_and_is_left_alone(monkeypatch):
    arrays, dy, saved = attention_arrays(), normal(10, B, T, D), {}
    choices = {"n_heads": H, "n_kv_heads": G, "causal": True, "rotary_base": 50.0}
    attention(**arrays, **choices, saved=saved)
    for each in (
        *arrays.values(),
        dy,
        saved["weights"],
        saved["merged"],
        *saved["heads"],
        *saved["prepared"],
    ):
        each.setflags(write=False)
    again = attention_backward(dy, **arrays, **choices)
    # so that nothing can be computed anew
    monkeypatch.delattr("transformer_block.in_numpy.attention.attention")
    monkeypatch.delattr("transformer_block.in_numpy.scaled_dot_product.attention_weights")
    kept = attention_backward(dy, **arrays, **choices, saved=saved)
    for name in AttentionGradients._fields[:5]:
        np.testing.assert_array_equal(getattr(kept, name), getattr(again, name))
    assert set(saved) == {"weights", "heads", "prepared", "merged"}


def test_a_query_that_sees_nothing_has_finite_gradients():
    arrays, visible = attention_arrays(H), some_visible(8, B, T, T)
    visible[1] = False
    gradients = attention_backward(normal(10, B, T, D), **arrays, n_heads=H, visible=visible)
    assert all(np.isfinite(each).all() for each in gradients[:5])
    np.testing.assert_array_equal(gradients.x[1], 0)


def test_the_bias_of_the_keys_has_no_gradient_because_softmax_does_not_see_a_shift():
    gradients = attention_backward(normal(10, B, T, D), **attention_arrays(H), n_heads=H)
    np.testing.assert_allclose(gradients.qkv_bias[D : 2 * D], 0, atol=1e-12)
    assert np.abs(gradients.qkv_bias[:D]).min() > 1e-6


def test_a_batch_without_tokens_moves_no_parameter():
    arrays = attention_arrays(H) | {"x": np.empty((B, 0, D))}
    gradients = attention_backward(np.empty((B, 0, D)), **arrays, n_heads=H, causal=True, rotary_base=50.0)
    assert gradients.x.shape == (B, 0, D)
    assert all((gradient == 0).all() for gradient in gradients[1:5])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_gradients_have_the_dtype_of_the_arrays(dtype):
    arrays = {name: array.astype(dtype) for name, array in attention_arrays().items()}
    gradients = attention_backward(
        arrays["x"], **arrays, n_heads=H, n_kv_heads=G, causal=True, rotary_base=50.0
    )
    assert {each.dtype for each in gradients[:5]} == {np.dtype(dtype)}


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_the_tokens():
    with pytest.raises(ValueError, match=r"dy must have shape \(2, 5, 24\); got \(5, 24\)"):
        attention_backward(np.ones((T, D)), **attention_arrays(H), n_heads=H)


def test_a_step_behind_a_cache_has_no_way_back():
    arrays, cache, saved = attention_arrays(H), KVCache(2 * T), {}
    choices = {"n_heads": H, "causal": True}
    attention(**arrays, **choices, cache=cache)
    attention(**arrays, **choices, cache=cache, saved=saved)
    with pytest.raises(ValueError, match="no gradient leads back through a cache"):
        attention_backward(normal(10, B, T, D), **arrays, **choices, saved=saved)


@given(st.permutations(range(1, 7)), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_gradients_are_those_of_autograd_at_any_size(sizes, causal, seed):
    batch, length, groups, shared, half, _ = sizes
    n_heads, width = groups * shared, 2 * half
    d_model, rows = n_heads * width, (n_heads + 2 * groups) * width
    arrays = {
        "x": normal(seed, batch, length, d_model),
        "qkv": normal(seed + 1, rows, d_model) / np.sqrt(d_model),
        "qkv_bias": normal(seed + 2, rows),
        "out": normal(seed + 3, d_model, d_model) / np.sqrt(d_model),
        "out_bias": normal(seed + 4, d_model),
    }
    choices = {"n_heads": n_heads, "n_kv_heads": groups, "causal": causal, "rotary_base": 50.0}
    visible = np.random.default_rng(seed).random((batch, length, length)) < 0.7
    mask, dy = torch.tensor(visible), normal(seed + 5, batch, length, d_model)
    y, expected = by_autograd(lambda **inputs: torch_attention(**inputs, **choices, visible=mask), arrays, dy)
    np.testing.assert_allclose(attention(**arrays, **choices, visible=visible), y, atol=1e-11)
    gradients = attention_backward(dy, **arrays, **choices, visible=visible)
    for name, reference in expected.items():
        np.testing.assert_allclose(getattr(gradients, name), reference, atol=1e-10, err_msg=name)
