import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.transformer_block.numerics import B, D, F, H, T, normal
from transformer_block.config import ACTIVATIONS as CONFIGURABLE
from transformer_block.in_numpy.feed_forward import ACTIVATIONS, feed_forward, gelu_tanh, relu


def weights():
    return normal(1, F, D), normal(2, F), normal(3, D, F), normal(4, D)


@pytest.mark.parametrize("activation", CONFIGURABLE)
@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
def test_it_is_two_linear_maps_with_a_bend_between(shape, activation):
    bend = {"relu": functional.relu, "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh")}[
        activation
    ]
    x, (w1, b1, w2, b2) = normal(5, *shape), weights()
    w1_, b1_, w2_, b2_ = map(torch.tensor, (w1, b1, w2, b2))
    expected = functional.linear(bend(functional.linear(torch.tensor(x), w1_, b1_)), w2_, b2_)
    np.testing.assert_allclose(feed_forward(x, w1, b1, w2, b2, activation), expected, atol=1e-12)


def test_the_bend_is_a_relu_unless_asked():
    x = normal(5, T, D)
    np.testing.assert_array_equal(feed_forward(x, *weights()), feed_forward(x, *weights(), "relu"))


def test_a_change_of_one_token_reaches_no_other():
    x = normal(5, B, T, D)
    changed = x.copy()
    changed[1, 2] = normal(6, D)
    moved = np.abs(feed_forward(x, *weights()) - feed_forward(changed, *weights())).max(axis=-1) > 1e-9
    assert np.argwhere(moved).tolist() == [[1, 2]]


def test_relu_passes_what_is_positive():
    np.testing.assert_array_equal(relu(np.array([-2.0, -0.0, 0.5, 3.0])), [0, 0, 0.5, 3])


def test_gelu_is_nearly_the_identity_far_right_and_nearly_nothing_far_left():
    np.testing.assert_allclose(gelu_tanh(np.array([-9.0, 0.0, 9.0])), [0, 0, 9], atol=1e-12)


def test_gelu_approximates_the_exact_one_to_three_digits():
    x = np.linspace(-6, 6, 500)
    gap = np.abs(gelu_tanh(x) - functional.gelu(torch.tensor(x)).numpy()).max()
    assert 1e-4 < gap < 5e-4


@pytest.mark.parametrize("name", CONFIGURABLE)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_and_nan_is_not_hidden(name, dtype):
    bent = ACTIVATIONS[name](np.array([-1, np.nan, 2], dtype))
    assert bent.dtype == dtype
    assert np.isnan(bent).tolist() == [False, True, False]


def test_every_activation_of_the_config_is_there():
    assert tuple(ACTIVATIONS) == CONFIGURABLE


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"w1": np.ones((F, D + 1))}, "w1 must have shape (7, 12); got (7, 13)"),
        ({"b1": np.ones(D)}, "b1 must have shape (7,); got (12,)"),
        ({"w2": np.ones((F, D))}, "w2 must have shape (12, 7); got (7, 12)"),
        ({"b2": np.ones(F)}, "b2 must have shape (12,); got (7,)"),
        ({"activation": "swish"}, "activation must be one of relu, gelu_tanh; got 'swish'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = dict(zip(("w1", "b1", "w2", "b2"), weights(), strict=True)) | wrong
    with pytest.raises(ValueError, match="must") as refusal:
        feed_forward(normal(5, T, D), **arguments)
    assert str(refusal.value) == sentence
