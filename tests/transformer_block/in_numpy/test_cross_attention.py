import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, K, S, T, normal, relative_error
from tests.transformer_block.parts import (
    D,
    G,
    H,
    by_autograd,
    cross_attention_arrays,
    gains,
    largest_gap_in_slope,
    some_kept,
    some_visible,
)
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.cross_attention import cross_attention, cross_attention_backward
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.heads import QKNorm
from transformer_block.in_numpy.masks import padding_mask
from transformer_block.in_torch import dropout as torch_dropout
from transformer_block.in_torch import heads as torch_heads
from transformer_block.in_torch.cross_attention import cross_attention as torch_cross_attention

CHOICES = [
    {"groups": H, "normed": False, "masked": True, "rate": 0.3},
    {"groups": G, "normed": True, "masked": True, "rate": 0.0},
    {"groups": G, "normed": False, "masked": False, "rate": 0.3},
    {"groups": 1, "normed": True, "masked": False, "rate": 0.3},
    {"groups": H, "normed": True, "masked": False, "rate": 0.0},
]


def both(groups, normed, masked, rate):
    """One cross-attention in both twins: functions of the arrays by name, gains among them."""
    shared = {"n_heads": H, "n_kv_heads": groups}
    visible = some_visible(8, B, T, S) if masked else None
    keep = some_kept(9, B, H, T, S) if rate else None

    def ours(function, q_norm=None, k_norm=None, **arguments):
        norm = QKNorm(q_norm, k_norm, 1e-2) if normed else None
        drop = DropMask(keep, rate) if rate else None
        return function(**arguments, **shared, visible=visible, qk_norm=norm, drop=drop)

    def theirs(q_norm=None, k_norm=None, **arguments):
        norm = torch_heads.QKNorm(q_norm, k_norm, 1e-2) if normed else None
        drop = torch_dropout.DropMask(torch.tensor(keep), rate) if rate else None
        mask = torch.tensor(visible) if masked else None
        return torch_cross_attention(**arguments, **shared, visible=mask, qk_norm=norm, drop=drop)

    return ours, theirs


def attend(arrays, visible=None, **choices):
    return cross_attention(**arrays, n_heads=H, visible=visible, **choices)


def test_it_agrees_with_multihead_attention():
    arrays = cross_attention_arrays(H)
    theirs = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    qkv = np.concatenate([arrays["q"], arrays["kv"]]), np.concatenate([arrays["q_bias"], arrays["kv_bias"]])
    state = (*qkv, arrays["out"], arrays["out_bias"])
    theirs.load_state_dict(dict(zip(theirs.state_dict(), map(torch.tensor, state), strict=True)))
    x, memory = torch.tensor(arrays["x"]), torch.tensor(arrays["memory"])
    hidden = torch.tensor(~padding_mask([4, 9], S)[:, 0])
    expected, weights = theirs(x, memory, memory, key_padding_mask=hidden, average_attn_weights=False)
    saved = {}
    y = attend(arrays, padding_mask([4, 9], S), saved=saved)
    np.testing.assert_allclose(y, expected.detach(), atol=1e-12)
    np.testing.assert_allclose(saved["weights"], weights.detach(), atol=1e-12)


def test_a_memory_that_is_x_itself_makes_it_self_attention():
    arrays = cross_attention_arrays(G)
    arrays["memory"] = arrays["x"]
    joined = {name: np.concatenate([arrays[f"q{name}"], arrays[f"kv{name}"]]) for name in ("", "_bias")}
    norm = QKNorm(gains()["q_norm"], gains()["k_norm"])
    expected = attention(
        arrays["x"], *joined.values(), arrays["out"], arrays["out_bias"], H, n_kv_heads=G, qk_norm=norm
    )
    np.testing.assert_allclose(attend(arrays, n_kv_heads=G, qk_norm=norm), expected, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("choices", CHOICES)
def test_the_gradients_are_those_of_autograd(choices, bias):
    arrays = cross_attention_arrays(choices["groups"], bias=bias) | (gains() if choices["normed"] else {})
    (ours, theirs), dy = both(**choices), normal(10, B, T, D)
    y, expected = by_autograd(theirs, arrays, dy)
    assert relative_error(ours(cross_attention, **arrays), y) < 1e-12
    for name, gradient in ours(cross_attention_backward, **arrays, dy=dy)._asdict().items():
        reference = expected.get(name)
        assert (gradient is None) == (reference is None), name
        if reference is not None:
            assert relative_error(gradient, reference) < 1e-11, name


@pytest.mark.parametrize("name", [*cross_attention_arrays(), *gains()])
def test_each_gradient_is_that_of_central_differences(name):
    arrays, dy = cross_attention_arrays() | gains(), normal(10, B, T, D)
    ours, _ = both(groups=G, normed=True, masked=True, rate=0.3)
    gradients = ours(cross_attention_backward, **arrays, dy=dy)

    def loss(moved):
        return np.sum(dy * ours(cross_attention, **(arrays | {name: moved})))

    assert largest_gap_in_slope(loss, arrays[name], getattr(gradients, name)) < 1e-6


def test_what_the_forward_pass_saved_gives_the_same_gradients_and_is_left_alone(monkeypatch):
    arrays, dy, saved = cross_attention_arrays(), normal(10, B, T, D), {}
    attend(arrays, n_kv_heads=G, saved=saved)
    for each in (
        *arrays.values(),
        dy,
        saved["weights"],
        saved["merged"],
        *saved["heads"],
        *saved["prepared"],
    ):
        each.setflags(write=False)
    again = cross_attention_backward(dy, **arrays, n_heads=H, n_kv_heads=G)
    # so that nothing can be computed anew
    monkeypatch.delattr("transformer_block.in_numpy.cross_attention.cross_attention")
    monkeypatch.delattr("transformer_block.in_numpy.scaled_dot_product.attention_weights")
    kept = cross_attention_backward(dy, **arrays, n_heads=H, n_kv_heads=G, saved=saved)
    for name in arrays:
        np.testing.assert_array_equal(getattr(kept, name), getattr(again, name))


def test_a_change_of_one_token_reaches_no_other_but_one_of_the_memory_reaches_all():
    arrays = cross_attention_arrays(H)
    changed = {name: arrays[name].copy() for name in ("x", "memory")}
    changed["x"][1, 2], changed["memory"][1, 7] = normal(11, 2, D)
    moved = {
        name: np.abs(attend(arrays) - attend(arrays | {name: array})).max(axis=-1) > 1e-9
        for name, array in changed.items()
    }
    assert np.argwhere(moved["x"]).tolist() == [[1, 2]]
    assert moved["memory"].tolist() == [[False] * T, [True] * T]


def test_hidden_memory_moves_nothing_and_gets_no_gradient():
    arrays, visible = cross_attention_arrays(H), padding_mask([4, 0], S)
    padded = arrays["memory"].copy()
    padded[0, 4:] = normal(6, S - 4, D)
    np.testing.assert_array_equal(attend(arrays, visible), attend(arrays | {"memory": padded}, visible))
    np.testing.assert_array_equal(attend(arrays, visible)[1], np.tile(arrays["out_bias"], (T, 1)))
    gradients = cross_attention_backward(normal(10, B, T, D), **arrays, n_heads=H, visible=visible)
    np.testing.assert_array_equal(gradients.memory[0, 4:], 0)
    np.testing.assert_array_equal(gradients.memory[1], 0)
    assert all(np.isfinite(each).all() for each in gradients[:8])


def test_no_tokens_and_no_memory_are_possible():
    arrays = cross_attention_arrays(H)
    y = attend(arrays | {"memory": np.empty((B, 0, D))})
    np.testing.assert_array_equal(y, np.tile(arrays["out_bias"], (B, T, 1)))
    assert attend(arrays | {"x": np.empty((B, 0, D))}).shape == (B, 0, D)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_is_kept(dtype):
    arrays = {name: array.astype(dtype) for name, array in cross_attention_arrays().items()}
    gradients = cross_attention_backward(arrays["x"], **arrays, n_heads=H, n_kv_heads=G)
    assert {each.dtype for each in (attend(arrays, n_kv_heads=G), *gradients[:8])} == {np.dtype(dtype)}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"x": np.ones(D)}, ValueError, "x must have shape (..., T, D); got (24,)"),
        ({"x": np.ones((B, T, D), int)}, TypeError, "cross_attention needs a floating dtype; got int64"),
        ({"memory": np.ones((B, S, D + 1))}, ValueError, "memory must have shape (2, S, 24); got (2, 9, 25)"),
        ({"memory": np.ones((3, S, D))}, ValueError, "memory must have shape (2, S, 24); got (3, 9, 24)"),
        ({"memory": np.ones((S, D))}, ValueError, "memory must have shape (2, S, 24); got (9, 24)"),
        ({"memory": np.ones((B, S, D), np.float32)}, TypeError, "x is float64 but memory is float32"),
        ({"q": np.ones((D, K))}, ValueError, "q must have shape (24, 24); got (24, 4)"),
        ({"q_bias": np.ones(K)}, ValueError, "q_bias must have shape (24,); got (4,)"),
        ({"kv": np.ones((D, D))}, ValueError, "kv must have shape (48, 24); got (24, 24)"),
        ({"n_kv_heads": G}, ValueError, "kv must have shape (24, 24); got (48, 24)"),
        ({"kv_bias": np.ones(D)}, ValueError, "kv_bias must have shape (48,); got (24,)"),
        ({"out": np.ones((K, D))}, ValueError, "out must have shape (24, 24); got (4, 24)"),
        ({"out_bias": np.ones(K)}, ValueError, "out_bias must have shape (24,); got (4,)"),
        ({"n_heads": 5}, ValueError, "d_model 24 is not divisible by n_heads 5"),
        ({"n_kv_heads": 4}, ValueError, "n_heads 6 is not divisible by n_kv_heads 4"),
        (
            {"visible": np.ones((T, T), bool)},
            ValueError,
            "visible has shape (5, 5), which does not broadcast to (2, 5, 9)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, error, sentence):
    with pytest.raises(error) as refusal:
        cross_attention(**(cross_attention_arrays(H) | {"n_heads": H} | wrong))
    assert str(refusal.value) == sentence
