import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from tests.transformer_block.numerics import B, D, T, central_differences, normal, relative_error, tokens
from transformer_block.in_numpy.layer_norm import center, layer_norm, layer_norm_backward


@pytest.mark.parametrize("with_gamma", [True, False])
@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D)])
def test_the_gradients_are_those_of_autograd(shape, with_gamma):
    x, dy = normal(1, *shape), normal(2, *shape)
    gamma = normal(3, D) if with_gamma else np.ones(D)
    inputs = [torch.tensor(each, requires_grad=True) for each in (x, gamma, normal(4, D))]
    functional.layer_norm(inputs[0], (D,), *inputs[1:], eps=1e-2).backward(torch.tensor(dy))
    gradients = layer_norm_backward(dy, x, gamma if with_gamma else None, eps=1e-2)
    for gradient, tensor in zip(gradients, inputs, strict=True):
        assert relative_error(gradient, tensor.grad.numpy()) < 1e-12


def test_the_gradients_are_those_of_central_differences():
    x, gamma, beta, dy = normal(1, B, T, D), normal(2, D), normal(3, D), normal(4, B, T, D)
    measured = (
        central_differences(lambda x: np.sum(dy * layer_norm(x, gamma, beta)), x),
        central_differences(lambda gamma: np.sum(dy * layer_norm(x, gamma, beta)), gamma),
        central_differences(lambda beta: np.sum(dy * layer_norm(x, gamma, beta)), beta),
    )
    for gradient, reference in zip(layer_norm_backward(dy, x, gamma), measured, strict=True):
        assert relative_error(gradient, reference) < 1e-6


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_the_tokens():
    with pytest.raises(ValueError, match=r"dy must have shape \(5, 12\); got \(12,\)"):
        layer_norm_backward(normal(1, D), normal(2, T, D))
    with pytest.raises(ValueError, match=r"gamma must have shape \(12,\); got \(13,\)"):
        layer_norm_backward(normal(1, T, D), normal(2, T, D), normal(3, D + 1))


def test_eps_is_the_same_default_backward():
    x, dy = 1e-3 * normal(1, T, D), normal(2, T, D)
    for default, given_eps in zip(
        layer_norm_backward(dy, x), layer_norm_backward(dy, x, eps=1e-5), strict=True
    ):
        np.testing.assert_array_equal(default, given_eps)


def test_no_gradient_leads_along_a_shift_or_a_stretch():
    x, dy = normal(1, T, D), normal(2, T, D)
    dx, _, _ = layer_norm_backward(dy, x, normal(3, D), eps=0)
    np.testing.assert_allclose(dx.sum(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose((dx * center(x)).sum(axis=-1), 0, atol=1e-12)


def test_the_gradient_of_a_constant_token_is_finite():
    dx, dgamma, _ = layer_norm_backward(normal(1, T, D), np.full((T, D), 3.0), eps=1e-5)
    np.testing.assert_allclose(dx, center(normal(1, T, D)) / np.sqrt(1e-5), rtol=1e-12)
    np.testing.assert_array_equal(dgamma, 0)


def test_float16_gradients_are_formed_in_float32():
    x, dy = (300 * normal(1, T, D)).astype(np.float16), (300 * normal(2, T, D)).astype(np.float16)
    gamma = np.full(D, 400, np.float16)
    exact = layer_norm_backward(dy.astype(float), x.astype(float), gamma.astype(float))
    for rounded, gradient in zip(layer_norm_backward(dy, x, gamma), exact, strict=True):
        assert relative_error(rounded.astype(float), gradient) < 2e-3


@given(tokens(), st.integers(0, 2**32 - 1))
def test_the_backward_pass_is_the_transpose_of_a_small_step(x, seed):
    rng = np.random.default_rng(seed)
    step, dy = rng.normal(size=(2, *x.shape))
    gamma = rng.normal(size=x.shape[-1])
    dx, _, _ = layer_norm_backward(dy, x, gamma, eps=1.0)
    moved = (layer_norm(x + 1e-6 * step, gamma, eps=1.0) - layer_norm(x - 1e-6 * step, gamma, eps=1.0)) / 2e-6
    np.testing.assert_allclose(np.sum(dx * step), np.sum(dy * moved), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_gradients_have_the_dtype_of_the_tokens_even_beside_wider_parameters(dtype):
    x, gamma = normal(1, T, D, dtype=dtype), normal(2, D)
    assert {gradient.dtype for gradient in layer_norm_backward(x, x, gamma)} == {np.dtype(dtype)}


@pytest.mark.usefixtures("unchecked")
def test_what_has_no_mean_and_spread_is_refused():
    with pytest.raises(TypeError, match="layer_norm needs a floating dtype; got int64"):
        layer_norm_backward(normal(1, T, D), np.ones((T, D), np.int64))


def test_a_batch_without_tokens_moves_no_parameter():
    dx, dgamma, dbeta = layer_norm_backward(np.empty((B, 0, D)), np.empty((B, 0, D)))
    assert dx.shape == (B, 0, D)
    assert dgamma.tolist() == dbeta.tolist() == [0] * D
