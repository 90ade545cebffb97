import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.nn import functional

from tests.transformer_block.numerics import B, D, H, T, normal, relative_error, tokens
from transformer_block.in_numpy.layer_norm import center, layer_norm, statistics

DTYPES = [np.float16, np.float32, np.float64]


def test_it_is_the_formula():
    x, gamma, beta = normal(1, B, T, D), normal(2, D), normal(3, D)
    deviation = x - np.mean(x, axis=-1, keepdims=True)
    expected = gamma * deviation / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-3) + beta
    np.testing.assert_allclose(layer_norm(x, gamma, beta, eps=1e-3), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("with_gamma", "with_beta"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_it_agrees_with_pytorch_whichever_parts_are_given(with_gamma, with_beta):
    x = normal(1, B, T, D)
    gamma = normal(2, D) if with_gamma else None
    beta = normal(3, D) if with_beta else None
    tensors = [None if part is None else torch.tensor(part) for part in (gamma, beta)]
    expected = functional.layer_norm(torch.tensor(x), (D,), *tensors, eps=1e-3).numpy()
    np.testing.assert_allclose(layer_norm(x, gamma, beta, eps=1e-3), expected, atol=1e-12)


def test_four_features_by_hand():
    # mean 3 and squared deviations 4, 0, 0, 4: a variance of 2, where dividing by D − 1 would give 2.67
    token = np.array([1.0, 3.0, 3.0, 5.0])
    np.testing.assert_allclose(layer_norm(token, eps=0), [-np.sqrt(2), 0, 0, np.sqrt(2)])
    mean, variance = statistics(token)
    assert (mean.item(), variance.item()) == (3, 2)


def test_eps_stands_inside_the_root():
    # variance = eps: inside, the spread becomes 1 / √2; outside, it would be 1 / (1 + √eps)
    token = np.sqrt(1e-2) * np.array([1.0, -1.0])
    np.testing.assert_allclose(layer_norm(token, eps=1e-2), [np.sqrt(0.5), -np.sqrt(0.5)])


def test_eps_is_a_hundred_thousandth_unless_given():
    x = 1e-3 * normal(1, T, D)
    np.testing.assert_array_equal(layer_norm(x), layer_norm(x, eps=1e-5))
    assert relative_error(layer_norm(x), layer_norm(x, eps=2e-5)) > 0.1


def test_the_variance_that_is_left_shows_what_eps_took():
    x = normal(1, B, T, D)
    _, before = statistics(x)
    _, after = statistics(layer_norm(x, eps=0.1))
    np.testing.assert_allclose(after, before / (before + 0.1), rtol=1e-12)


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
def test_each_token_is_normalized_alone_behind_any_number_of_axes(shape):
    x, gamma, beta = normal(1, *shape), normal(2, D), normal(3, D)
    y = layer_norm(x, gamma, beta)
    for token in np.ndindex(shape[:-1]):
        np.testing.assert_allclose(y[token], layer_norm(x[token], gamma, beta), rtol=1e-12)


def test_a_change_of_one_token_reaches_no_other():
    x = normal(1, B, T, D)
    changed = x.copy()
    changed[1, 2] = normal(4, D)
    differs = (layer_norm(x) != layer_norm(changed)).any(axis=-1)
    assert np.argwhere(differs).tolist() == [[1, 2]]


def test_nan_stays_in_its_token_and_is_not_hidden():
    x = normal(1, B, T, D)
    x[0, 3, 2] = np.nan
    y = layer_norm(x, normal(2, D), normal(3, D))
    assert np.isnan(y[0, 3]).all()
    assert np.argwhere(np.isnan(y).any(axis=-1)).tolist() == [[0, 3]]


def test_two_features_keep_one_bit_which_was_larger():
    x = normal(1, 50, 2) * 10.0 ** np.arange(-3, 7).repeat(5)[:, None]
    np.testing.assert_allclose(
        layer_norm(x, eps=0), np.where(x == x.max(-1, keepdims=True), 1, -1), atol=1e-9
    )


def test_one_feature_leaves_nothing_but_beta():
    beta = normal(1, 1)
    np.testing.assert_array_equal(layer_norm(normal(2, T, 1), normal(3, 1), beta), np.tile(beta, (T, 1)))


def test_the_all_ones_direction_is_lost():
    x, along_ones = normal(1, T, D), normal(2, T, 1)
    np.testing.assert_allclose(layer_norm(x + along_ones), layer_norm(x), atol=1e-12)
    np.testing.assert_allclose(layer_norm(x).sum(axis=-1), 0, atol=1e-12)


def test_a_stretch_is_lost_but_for_eps():
    x, stretch = normal(1, T, D), np.exp(normal(2, T, 1))
    np.testing.assert_allclose(layer_norm(stretch * x, eps=0), layer_norm(x, eps=0), atol=1e-12)
    assert relative_error(layer_norm(stretch * x, eps=0.1), layer_norm(x, eps=0.1)) > 0.01


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("constant", [0.0, 0.1, 12345.678, -3e4])
def test_a_constant_token_becomes_zero(constant, dtype):
    np.testing.assert_array_equal(layer_norm(np.full((T, D), constant, dtype)), 0)


def test_a_large_mean_costs_float32_no_digits():
    x = (1e4 + normal(1, T, 768)).astype(np.float32)
    exact = layer_norm(x.astype(np.float64))
    np.testing.assert_allclose(layer_norm(x), exact, atol=2e-6)


def test_float16_squares_may_exceed_the_largest_float16():
    x = (300 * normal(1, T, D)).astype(np.float16)
    np.testing.assert_allclose(layer_norm(x), layer_norm(x.astype(np.float64)), atol=2e-3)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_huge_and_tiny_tokens_stay_finite(scale):
    x = scale * normal(1, T, D)
    expected = 0 if scale < 1 else layer_norm(x / scale, eps=0)
    np.testing.assert_allclose(layer_norm(x), expected, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_is_kept_even_beside_wider_parameters(dtype):
    x, gamma, beta = normal(1, T, D, dtype=dtype), normal(2, D), normal(3, D)
    assert layer_norm(x).dtype == dtype
    assert layer_norm(x, gamma, beta).dtype == dtype


def test_no_token_at_all_gives_none_back():
    assert layer_norm(np.empty((B, 0, D)), normal(1, D)).shape == (B, 0, D)


def test_the_input_is_left_alone():
    x = normal(1, T, D)
    x.setflags(write=False)
    assert not np.shares_memory(layer_norm(x), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_centering_takes_the_mean_away(dtype):
    x = (5 + normal(1, T, D)).astype(dtype)
    exact = x.astype(np.float64) - x.astype(np.float64).mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(center(x), exact, atol=1e-6 if dtype != np.float64 else 1e-14)
    assert center(x).dtype == max(dtype, np.float32, key=lambda each: np.dtype(each).itemsize)


def test_statistics_are_float64_and_broadcast_against_the_tokens():
    x = (1e4 + normal(1, B, T, D)).astype(np.float32)
    mean, variance = statistics(x)
    assert mean.shape == variance.shape == (B, T, 1)
    assert mean.dtype == variance.dtype == np.float64
    np.testing.assert_allclose(variance[..., 0], x.astype(np.float64).var(axis=-1), rtol=1e-12)
    np.testing.assert_allclose(mean[..., 0], x.astype(np.float64).mean(axis=-1), rtol=1e-15)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [layer_norm, statistics])
@pytest.mark.parametrize(
    ("x", "error", "sentence"),
    [
        (np.ones((T, D), np.int64), TypeError, "layer_norm needs a floating dtype; got int64"),
        (np.ones((T, D), bool), TypeError, "layer_norm needs a floating dtype; got bool"),
        (
            np.ones((T, 0)),
            ValueError,
            "layer_norm needs at least one feature on the last axis; got shape (5, 0)",
        ),
        (np.array(1.0), ValueError, "layer_norm needs at least one feature on the last axis; got shape ()"),
    ],
)
def test_what_has_no_mean_and_spread_is_refused(function, x, error, sentence):
    with pytest.raises(error) as refusal:
        function(x)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["gamma", "beta"])
@pytest.mark.parametrize("shape", [(D + 1,), (1,), (T, D)])
def test_gamma_and_beta_have_one_entry_per_feature(name, shape):
    with pytest.raises(ValueError, match=rf"{name} must have shape \(12,\)"):
        layer_norm(normal(1, T, D), **{name: np.ones(shape)})


@given(tokens())
def test_every_token_gets_mean_zero_and_a_variance_short_of_one(x):
    mean, variance = statistics(layer_norm(x))
    np.testing.assert_allclose(mean, 0, atol=1e-9)
    assert (variance <= 1 + 1e-9).all()


@given(tokens())
def test_normalizing_twice_without_eps_changes_nothing(x):
    assume(x.shape[-1] > 1)
    once = layer_norm(x, eps=0)
    np.testing.assert_allclose(layer_norm(once, eps=0), once, atol=1e-9)


@given(tokens(), st.integers(0, 2**32 - 1))
def test_features_keep_no_order(x, seed):
    order = np.random.default_rng(seed).permutation(x.shape[-1])
    gamma, beta = normal(seed, 2, x.shape[-1])
    permuted = layer_norm(x[..., order], gamma[order], beta[order])
    np.testing.assert_allclose(permuted, layer_norm(x, gamma, beta)[..., order], atol=1e-9)
