import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, K, S, T, central_differences, normal, relative_error
from tests.transformer_block.parts import G, H, by_autograd, some_kept, some_visible
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.scaled_dot_product import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_backward,
)


def heads(*batch, groups=H):
    return normal(1, *batch, H, T, K), normal(2, *batch, groups, S, K), normal(3, *batch, groups, S, K)


def explicit(q, k, v, visible=None, drop=None):
    """The formula in PyTorch, with every key repeated for the queries that share it."""
    k, v = (each.repeat_interleave(q.shape[-3] // each.shape[-3], dim=-3) for each in (k, v))
    scores = q @ k.mT / K**0.5
    if visible is not None:
        scores = scores.masked_fill(~torch.tensor(visible)[..., None, :, :], -torch.inf)
    weights = scores.softmax(dim=-1)
    if drop is not None:
        weights = weights * torch.tensor(drop.keep) / (1 - drop.rate)
    return weights @ v


@pytest.mark.parametrize("groups", [H, G, 1])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dropping", [False, True])
@pytest.mark.parametrize("batch", [(), (B,)])
def test_the_gradients_are_those_of_autograd(batch, dropping, masked, groups):
    q, k, v = heads(*batch, groups=groups)
    visible = some_visible(4, *batch, T, S) if masked else None
    drop = DropMask(some_kept(5, *batch, H, T, S), 0.3) if dropping else None
    dy = normal(6, *batch, H, T, K)
    _, expected = by_autograd(lambda q, k, v: explicit(q, k, v, visible, drop), {"q": q, "k": k, "v": v}, dy)
    gradients = scaled_dot_product_attention_backward(dy, q, k, v, visible, drop=drop)
    for gradient, reference in zip(gradients, expected.values(), strict=True):
        assert relative_error(gradient, reference) < 1e-12


@pytest.mark.parametrize("window", [None, 2])
def test_the_gradients_are_those_of_central_differences(window):
    q, k, v = normal(1, 4, 2, 6), normal(2, 2, 3, 6), normal(3, 2, 3, 6)
    dy = normal(4, 4, 2, 6)

    def loss(q, k, v):
        return np.sum(dy * scaled_dot_product_attention(q, k, v, None, True, window))

    measured = (
        central_differences(lambda q: loss(q, k, v), q),
        central_differences(lambda k: loss(q, k, v), k),
        central_differences(lambda v: loss(q, k, v), v),
    )
    gradients = scaled_dot_product_attention_backward(dy, q, k, v, None, True, window)
    for gradient, reference in zip(gradients, measured, strict=True):
        assert relative_error(gradient, reference) < 1e-6


def test_what_the_forward_pass_saved_gives_the_same_gradients_and_is_left_alone(monkeypatch):
    q, k, v = heads(B, groups=G)
    dy, saved = normal(6, B, H, T, K), {}
    scaled_dot_product_attention(q, k, v, causal=True, saved=saved)
    for each in (q, k, v, dy, saved["weights"]):
        each.setflags(write=False)
    again = scaled_dot_product_attention_backward(dy, q, k, v, causal=True)
    # so that nothing can be computed anew
    monkeypatch.delattr("transformer_block.in_numpy.scaled_dot_product.attention_weights")
    kept = scaled_dot_product_attention_backward(dy, q, k, v, causal=True, saved=saved)
    for gradient, reference in zip(kept, again, strict=True):
        np.testing.assert_array_equal(gradient, reference)
    assert list(saved) == ["weights"]


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_no_gradient_leads_along_a_shift_of_all_scores(width, seed):
    scores, dy = normal(seed, 7, width), normal(seed + 1, 7, width)
    dscores = softmax_backward(dy, softmax(scores))
    np.testing.assert_allclose(dscores.sum(axis=-1), 0, atol=1e-14)
    measured = central_differences(lambda scores: np.sum(dy * softmax(scores)), scores)
    np.testing.assert_allclose(dscores, measured, atol=1e-8)


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_the_queries():
    with pytest.raises(ValueError, match=r"dy must have shape \(6, 5, 4\); got \(5, 4\)"):
        scaled_dot_product_attention_backward(np.ones((T, K)), *heads())
