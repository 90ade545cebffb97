import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from tests.transformer_block.numerics import T, normal
from transformer_block.in_numpy import activations as numpy_twin
from transformer_block.in_torch.activations import ACTIVATIONS, GATED

WIDE = np.concatenate([-np.geomspace(1e-12, 1e3, 70), [0.0], np.geomspace(1e-12, 1e3, 70)])


def test_the_twins_know_the_same_ones():
    assert list(ACTIVATIONS) == list(numpy_twin.ACTIVATIONS)
    assert GATED == numpy_twin.GATED


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_it_agrees_with_its_twin_near_and_far(name):
    y = ACTIVATIONS[name](torch.tensor(WIDE))
    np.testing.assert_allclose(y, numpy_twin.ACTIVATIONS[name](WIDE), atol=1e-13)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_it_can_be_differentiated(name):
    assert gradcheck(ACTIVATIONS[name], torch.tensor(normal(1, T, 3), requires_grad=True))


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_kept_and_nan_is_not_hidden(name, dtype):
    y = ACTIVATIONS[name](torch.tensor([-1, torch.nan, 2], dtype=dtype))
    assert y.dtype == dtype
    assert y.isnan().tolist() == [False, True, False]
