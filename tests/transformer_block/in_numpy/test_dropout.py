import numpy as np
import pytest

from tests.transformer_block.numerics import B, D, T, central_differences, normal, relative_error
from tests.transformer_block.parts import some_kept
from transformer_block.in_numpy.dropout import DropMask, draw_mask, dropout, dropout_backward


def test_what_is_kept_is_stretched_and_the_rest_is_zero():
    keep = np.array([True, False, True, True])
    np.testing.assert_allclose(dropout(np.array([3.0, 6.0, 9.0, 0.0]), DropMask(keep, 0.25)), [4, 0, 12, 0])


def test_the_mean_is_kept():
    x = 3 + normal(1, 200, 300)
    dropped = dropout(x, draw_mask(x.shape, 0.3, np.random.default_rng(2)))
    # one entry has the variance E[x²] · rate / (1 − rate); the mean of n has 1/n of it
    deviation = np.sqrt(np.mean(x * x) * 0.3 / 0.7 / x.size)
    assert abs(dropped.mean() - x.mean()) < 4 * deviation


@pytest.mark.parametrize("rate", [0.1, 0.8])
def test_the_share_that_is_dropped_is_the_rate(rate):
    drop = draw_mask((200, 300), rate, np.random.default_rng(3))
    assert drop.rate == rate
    assert drop.keep.dtype == bool
    assert abs((~drop.keep).mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / drop.keep.size)


def test_the_generator_decides_and_nothing_else():
    first, again, other = (draw_mask((T, D), 0.5, np.random.default_rng(seed)).keep for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_without_a_mask_or_a_rate_nothing_is_dropped():
    x = normal(1, T, D)
    assert draw_mask(x.shape, 0.0, np.random.default_rng(1)) is None
    assert dropout(x) is x
    assert dropout_backward(x) is x


def test_the_gradient_is_that_of_central_differences():
    x, dy, drop = normal(1, B, T, D), normal(2, B, T, D), DropMask(some_kept(3, B, T, D), 0.3)
    measured = central_differences(lambda x: np.sum(dy * dropout(x, drop)), x)
    assert relative_error(dropout_backward(dy, drop), measured) < 1e-6


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_and_nan_is_not_hidden(dtype):
    x = np.array([1, np.nan, np.nan, 2], dtype)
    y = dropout(x, DropMask(np.array([True, True, False, False]), 0.2))
    assert y.dtype == dtype
    assert np.isnan(y).tolist() == [False, True, True, False]


@pytest.mark.parametrize("rate", [1.0, -0.1, np.nan])
def test_a_rate_that_leaves_nothing_or_is_none_is_refused(rate):
    sentence = rf"the dropout rate must lie in \[0, 1\); got {rate}"
    with pytest.raises(ValueError, match=sentence):
        draw_mask((T, D), rate, np.random.default_rng(1))
    with pytest.raises(ValueError, match=sentence):
        dropout(normal(1, T, D), DropMask(np.ones((T, D), bool), rate))


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"keep must have shape \(5, 12\); got \(12,\)"):
        dropout(normal(1, T, D), DropMask(np.ones(D, bool), 0.1))


def test_what_is_drawn_at_the_rate_itself_is_kept():
    drawn = np.random.default_rng(1).random((T, D))
    keep = draw_mask((T, D), drawn[2, 3], np.random.default_rng(1)).keep
    np.testing.assert_array_equal(keep, drawn >= drawn[2, 3])
    assert keep[2, 3]
