import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.transformer_block.numerics import B, D, T, central_differences, normal, relative_error
from transformer_block.config import CHOICES
from transformer_block.in_numpy.activations import ACTIVATIONS, BACKWARD, GATED, gelu, gelu_tanh, relu, silu

THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
}
NAMES = list(THEIRS)
WIDE = np.concatenate([-np.geomspace(1e-12, 1e3, 70), [0.0], np.geomspace(1e-12, 1e3, 70)])


@pytest.mark.parametrize("name", NAMES)
def test_it_agrees_with_pytorch_near_and_far(name):
    np.testing.assert_allclose(ACTIVATIONS[name](WIDE), THEIRS[name](torch.tensor(WIDE)), atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_its_slope_is_that_of_autograd(name):
    x, dy = torch.tensor(WIDE, requires_grad=True), normal(1, *WIDE.shape)
    THEIRS[name](x).backward(torch.tensor(dy))
    np.testing.assert_allclose(BACKWARD[name](dy, WIDE), x.grad, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_its_slope_is_that_of_central_differences(name):
    x, dy = 2 * normal(1, B, T, D), normal(2, B, T, D)
    measured = central_differences(lambda x: np.sum(dy * ACTIVATIONS[name](x)), x)
    assert relative_error(BACKWARD[name](dy, x), measured) < 1e-6


def test_relu_passes_what_is_positive():
    np.testing.assert_array_equal(relu(np.array([-2.0, -0.0, 0.5, 3.0])), [0, 0, 0.5, 3])


def test_the_slope_of_relu_at_zero_is_zero():
    np.testing.assert_array_equal(BACKWARD["relu"](np.ones(3), np.array([-1e-9, 0.0, 1e-9])), [0, 0, 1])


def test_gelu_by_hand():
    # a standard normal is below 1 with the chance 0.8413447…
    np.testing.assert_allclose(gelu(np.array([1.0, -1.0])), [0.841344746068543, -0.158655253931457])


def test_silu_by_hand():
    np.testing.assert_allclose(silu(np.array([np.log(3.0), 0.0])), [0.75 * np.log(3), 0])


def test_the_tanh_form_approximates_gelu_to_three_digits():
    x = np.linspace(-6, 6, 500)
    gap = np.abs(gelu_tanh(x) - gelu(x)).max()
    assert 1e-4 < gap < 5e-4


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_tiny_and_huge_inputs_neither_overflow_nor_lose_their_slope(name, scale):
    x = (scale * np.array([-1, 1])).astype(np.float32)
    y, slope = ACTIVATIONS[name](x), BACKWARD[name](np.ones_like(x), x)
    assert np.isfinite(y).all()
    np.testing.assert_allclose(slope, [0, 1] if scale > 1 else [0, 1] if name == "relu" else [0.5, 0.5])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_and_nan_is_not_hidden(name, dtype):
    x = np.array([-1, np.nan, 2, 200, -200], dtype)
    y, dx = ACTIVATIONS[name](x), BACKWARD[name](np.full_like(x, np.nan), x)
    assert y.dtype == dx.dtype == dtype
    assert np.isnan(y).tolist() == [False, True, False, False, False]
    assert np.isnan(dx[[1, 2]]).all()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_given_is_left_alone_and_may_be_empty(name):
    x, dy = normal(1, T, D), normal(2, T, D)
    x.setflags(write=False)
    dy.setflags(write=False)
    assert not np.shares_memory(ACTIVATIONS[name](x), x)
    BACKWARD[name](dy, x)
    assert ACTIVATIONS[name](x[:0]).shape == BACKWARD[name](dy[:0], x[:0]).shape == (0, D)


def test_every_activation_of_the_config_is_there_with_its_slope():
    assert {*ACTIVATIONS, *GATED} == set(CHOICES["activation"])
    assert list(BACKWARD) == list(ACTIVATIONS)
    assert GATED == {"swiglu": "silu", "geglu": "gelu"}


def test_scipy_is_loaded_by_the_exact_gelu_alone():
    report = (
        "import sys, numpy as np; from transformer_block.in_numpy import activations as a; x = np.ones(3);"
        "a.relu(x); a.gelu_tanh(x); a.silu(x); print('scipy' in sys.modules); a.gelu(x);"
        "print('scipy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
