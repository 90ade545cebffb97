import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, H, K, T, normal
from transformer_block.in_numpy import positions as numpy_twin
from transformer_block.in_torch.positions import rotary, sinusoidal


@pytest.mark.parametrize("offset", [0, 3, 100_000])
def test_the_sines_agree_with_those_of_the_twin(offset):
    rows = sinusoidal(T, D, offset, base=500, dtype=torch.float64)
    np.testing.assert_allclose(rows, numpy_twin.sinusoidal(T, D, offset, base=500), atol=1e-9)
    unless_given = torch.tensor(numpy_twin.sinusoidal(T, D))
    torch.testing.assert_close(sinusoidal(T, D, dtype=torch.float64), unless_given, atol=1e-12, rtol=0)
    torch.testing.assert_close(sinusoidal(T, D), unless_given.float())


@pytest.mark.parametrize("offset", [0, 3, 1000])
def test_the_turns_agree_with_those_of_the_twin(offset):
    x = normal(1, B, H, T, K)
    turned = rotary(torch.tensor(x), offset, base=500)
    np.testing.assert_allclose(turned, numpy_twin.rotary(x, offset, base=500), atol=1e-12)
    np.testing.assert_allclose(rotary(torch.tensor(x)), numpy_twin.rotary(x), atol=1e-12)


def test_a_wide_head_is_turned_by_its_halves():
    x = normal(1, T, 10)
    np.testing.assert_allclose(rotary(torch.tensor(x), 3), numpy_twin.rotary(x, 3), atol=1e-12)


def test_the_way_back_agrees_with_that_of_the_twin():
    x, dy = torch.tensor(normal(1, B, H, T, K), requires_grad=True), normal(2, B, H, T, K)
    rotary(x, 3, 50).backward(torch.tensor(dy))
    np.testing.assert_allclose(x.grad, numpy_twin.rotary_backward(dy, 3, 50), atol=1e-12)
    assert gradcheck(rotary, torch.tensor(normal(1, T, K), requires_grad=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_kept_and_positions_are_rounded_once(dtype):
    x = torch.tensor(normal(1, T, K), dtype=dtype)
    turned = rotary(x, offset=100_000)
    assert turned.dtype == dtype
    torch.testing.assert_close(
        turned.double(), rotary(x.double(), offset=100_000), atol=8 * torch.finfo(dtype).eps, rtol=0
    )
    exact = sinusoidal(T, D, offset=100_000, dtype=torch.float64)
    assert torch.equal(sinusoidal(T, D, offset=100_000, dtype=dtype), exact.to(dtype))


def test_no_token_is_possible():
    assert sinusoidal(0, D, offset=4).shape == (0, D)
    assert rotary(torch.ones(B, 0, K)).shape == (B, 0, K)


def test_positions_lie_where_they_are_asked_for():
    assert sinusoidal(T, D, device=torch.device("meta")).device.type == "meta"
    with torch.device("meta"):  # where what has no device of its own would lie
        assert sinusoidal(T, D, device=torch.device("cpu")).isfinite().all()
        assert rotary(torch.ones(T, K, device="cpu")).isfinite().all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("x", "offset", "error", "sentence"),
    [
        (torch.ones(T, 7), 0, ValueError, "head width 7 is odd; positions need pairs of features"),
        (torch.ones(T, K), -1, ValueError, "offset must be at least 0; got -1"),
        (torch.ones(T, K, dtype=int), 0, TypeError, "rotary needs a floating dtype; got int64"),
        (torch.ones(K), 0, ValueError, "x must have shape (..., T, D); got (4,)"),
    ],
)
def test_what_cannot_be_turned_is_refused(x, offset, error, sentence):
    with pytest.raises(error) as refusal:
        rotary(x, offset)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((T, 7), "d_model 7 is odd; positions need pairs of features"),
        ((-1, D), "length must be at least 0; got -1"),
        ((T, D, -2), "offset must be at least 0; got -2"),
    ],
)
def test_positions_that_there_cannot_be_are_refused(sizes, sentence):
    with pytest.raises(ValueError, match=r"odd|least") as refusal:
        sinusoidal(*sizes)
    assert str(refusal.value) == sentence
