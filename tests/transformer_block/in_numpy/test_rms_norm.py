import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from tests.transformer_block.numerics import (
    B,
    D,
    H,
    T,
    central_differences,
    normal,
    relative_error,
    tokens,
)
from transformer_block.in_numpy.rms_norm import rms_norm, rms_norm_backward, root_mean_square


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
@pytest.mark.parametrize("with_gamma", [True, False])
def test_it_agrees_with_pytorch(shape, with_gamma):
    x, gamma = normal(1, *shape), normal(2, D) if with_gamma else None
    weight = None if gamma is None else torch.tensor(gamma)
    expected = functional.rms_norm(torch.tensor(x), (D,), weight, eps=1e-2)
    np.testing.assert_allclose(rms_norm(x, gamma, eps=1e-2), expected, atol=1e-12)


def test_two_features_by_hand():
    # a mean square of (9 + 1) / 2 = 5: nothing is centered, as layer norm would
    np.testing.assert_allclose(rms_norm(np.array([3.0, 1.0]), eps=0), [3 / np.sqrt(5), 1 / np.sqrt(5)])
    assert root_mean_square(np.array([3.0, 1.0])).tolist() == [np.sqrt(5)]


def test_eps_stands_inside_the_root_and_is_a_hundred_thousandth_unless_given():
    token = np.array([0.1, -0.1])
    np.testing.assert_allclose(rms_norm(token, eps=1e-2), token / np.sqrt(2e-2))
    np.testing.assert_array_equal(rms_norm(1e-3 * token), rms_norm(1e-3 * token, eps=1e-5))
    np.testing.assert_array_equal(
        rms_norm_backward(token, 1e-3 * token)[0], rms_norm_backward(token, 1e-3 * token, eps=1e-5)[0]
    )


@pytest.mark.parametrize("with_gamma", [True, False])
@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D)])
def test_the_gradients_are_those_of_autograd(shape, with_gamma):
    x, dy, gamma = normal(1, *shape), normal(2, *shape), normal(3, D) if with_gamma else np.ones(D)
    inputs = [torch.tensor(each, requires_grad=True) for each in (x, gamma)]
    functional.rms_norm(inputs[0], (D,), inputs[1], eps=1e-2).backward(torch.tensor(dy))
    gradients = rms_norm_backward(dy, x, gamma if with_gamma else None, eps=1e-2)
    for gradient, tensor in zip(gradients, inputs, strict=True):
        assert relative_error(gradient, tensor.grad.numpy()) < 1e-12


def test_the_gradients_are_those_of_central_differences():
    x, gamma, dy = normal(1, B, T, D), normal(2, D), normal(3, B, T, D)
    measured = (
        central_differences(lambda x: np.sum(dy * rms_norm(x, gamma)), x),
        central_differences(lambda gamma: np.sum(dy * rms_norm(x, gamma)), gamma),
    )
    for gradient, reference in zip(rms_norm_backward(dy, x, gamma), measured, strict=True):
        assert relative_error(gradient, reference) < 1e-6


def test_no_gradient_leads_along_a_stretch():
    x, dy = normal(1, T, D), normal(2, T, D)
    dx, _ = rms_norm_backward(dy, x, normal(3, D), eps=0)
    np.testing.assert_allclose((dx * x).sum(axis=-1), 0, atol=1e-12)


@given(tokens(), st.floats(0.5, 2))
def test_a_stretched_token_is_the_same_and_a_shifted_one_is_not(x, factor):
    np.testing.assert_allclose(rms_norm(factor * x, eps=0), rms_norm(x, eps=0), atol=1e-12)
    if x.shape[-1] > 1:
        shifted = x + 3 * root_mean_square(x)
        assert np.abs(rms_norm(shifted, eps=0) - rms_norm(x, eps=0)).max() > 1e-3


@given(tokens())
def test_every_token_gets_a_size_short_of_one(x):
    size = root_mean_square(rms_norm(x))
    assert (size <= 1 + 1e-12).all()
    np.testing.assert_allclose(root_mean_square(rms_norm(x, eps=0)), 1, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_tiny_and_huge_float32_tokens_keep_their_direction(scale):
    x = (scale * normal(1, T, D)).astype(np.float32)
    exact = rms_norm(x.astype(float), eps=0)
    np.testing.assert_allclose(rms_norm(x, eps=0), exact, rtol=1e-5)
    dx, _ = rms_norm_backward(np.ones_like(x), x, eps=0)
    assert np.isfinite(dx).all()


def test_a_token_of_zeros_stays_zero_with_a_finite_gradient():
    zeros, dy = np.zeros((T, D)), normal(1, T, D)
    np.testing.assert_array_equal(rms_norm(zeros), zeros)
    np.testing.assert_allclose(rms_norm_backward(dy, zeros)[0], dy / np.sqrt(1e-5))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_the_tokens_is_kept_and_float16_is_squared_in_float32(dtype):
    x, dy = (300 * normal(1, T, D)).astype(dtype), normal(2, T, D).astype(dtype)
    gamma = normal(3, D)
    gradients = rms_norm_backward(dy, x, gamma)
    assert {each.dtype for each in (rms_norm(x, gamma), *gradients)} == {np.dtype(dtype)}
    exact = rms_norm_backward(dy.astype(float), x.astype(float), gamma)
    assert relative_error(rms_norm(x).astype(float), rms_norm(x.astype(float))) < 1e-3
    for gradient, reference in zip(gradients, exact, strict=True):
        assert relative_error(gradient.astype(float), reference) < 2e-3


def test_nan_stays_in_its_token():
    x = normal(1, T, D)
    x[2, 3] = np.nan
    assert np.isnan(rms_norm(x)).all(axis=-1).tolist() == [False, False, True, False, False]
    assert np.isfinite(rms_norm(x)[[0, 1, 3, 4]]).all()


def test_a_batch_without_tokens_moves_no_gain():
    none = np.empty((B, 0, D))
    dx, dgamma = rms_norm_backward(none, none)
    assert rms_norm(none).shape == dx.shape == (B, 0, D)
    assert dgamma.tolist() == [0] * D


def test_nothing_that_was_given_is_changed():
    x, gamma, dy = normal(1, T, D), normal(2, D), normal(3, T, D)
    for each in (x, gamma, dy):
        each.setflags(write=False)
    assert not np.shares_memory(rms_norm(x, gamma), x)
    rms_norm_backward(dy, x, gamma)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [rms_norm, lambda x, **given: rms_norm_backward(x, x, **given)])
@pytest.mark.parametrize(
    ("x", "gamma", "error", "sentence"),
    [
        (np.ones((T, D), int), None, TypeError, "rms_norm needs a floating dtype; got int64"),
        (
            np.ones((T, 0)),
            None,
            ValueError,
            "rms_norm needs at least one feature on the last axis; got shape (5, 0)",
        ),
        (
            np.array(1.0),
            None,
            ValueError,
            "rms_norm needs at least one feature on the last axis; got shape ()",
        ),
        (np.ones((T, D)), np.ones(T), ValueError, "gamma must have shape (12,); got (5,)"),
    ],
)
def test_what_has_no_size_is_refused(function, x, gamma, error, sentence):
    with pytest.raises(error) as refusal:
        function(x, gamma=gamma)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_the_tokens():
    with pytest.raises(ValueError, match=r"dy must have shape \(5, 12\); got \(12,\)"):
        rms_norm_backward(normal(1, D), normal(2, T, D))
