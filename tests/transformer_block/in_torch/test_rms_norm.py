import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, H, T, normal
from transformer_block.in_numpy import rms_norm as numpy_twin
from transformer_block.in_torch.rms_norm import RMSNorm, rms_norm, root_mean_square

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
@pytest.mark.parametrize("with_gamma", [True, False])
def test_it_agrees_with_its_twin(shape, with_gamma):
    arrays = [normal(1, *shape)] + [normal(2, D)] * with_gamma
    y = rms_norm(*map(torch.tensor, arrays), eps=1e-2)
    np.testing.assert_allclose(y, numpy_twin.rms_norm(*arrays, eps=1e-2), atol=1e-12)


def test_the_size_agrees_with_that_of_the_twin():
    x = normal(1, B, T, D)
    size = root_mean_square(torch.tensor(x), eps=1e-2)
    np.testing.assert_allclose(size, numpy_twin.root_mean_square(x, eps=1e-2), rtol=1e-14)
    assert torch.equal(root_mean_square(torch.tensor([3.0, 3.0])), torch.tensor([3.0]))


def test_eps_is_a_hundred_thousandth_unless_given():
    x = 1e-3 * random(1, T, D)
    assert torch.equal(rms_norm(x), rms_norm(x, eps=1e-5))
    assert torch.equal(RMSNorm(D)(x.float()), rms_norm(x.float(), eps=1e-5))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_is_kept_and_what_is_halved_does_not_overflow(dtype):
    x = 300 * random(1, T, D)
    y = rms_norm(x.to(dtype))
    assert y.dtype == dtype
    torch.testing.assert_close(y.double(), rms_norm(x), atol=1e-2, rtol=1e-2)


def test_it_can_be_differentiated():
    assert gradcheck(rms_norm, (random(1, T, D, requires_grad=True), random(2, D, requires_grad=True)))


def test_nan_stays_in_its_token():
    x = random(1, T, D)
    x[2, 3] = torch.nan
    assert rms_norm(x).isnan().all(dim=-1).tolist() == [False, False, True, False, False]


def test_the_module_loads_from_and_agrees_with_pytorchs_own():
    theirs, ours = nn.RMSNorm(D, eps=1e-3, dtype=torch.float64), RMSNorm(D, eps=1e-3).double()
    nn.init.normal_(theirs.weight)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(random(1, B, T, D)), theirs(random(1, B, T, D)))


def test_a_module_starts_with_gains_of_one_and_may_have_none():
    x = random(1, B, T, D, dtype=torch.float32)
    assert torch.equal(RMSNorm(D)(x), rms_norm(x))
    assert torch.equal(RMSNorm(D, weight=False)(x), rms_norm(x))
    assert not RMSNorm(D, weight=False).state_dict()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("x", "gamma", "error", "sentence"),
    [
        (torch.ones(T, D, dtype=int), None, TypeError, "rms_norm needs a floating dtype; got int64"),
        (
            torch.ones(T, 0),
            None,
            ValueError,
            "rms_norm needs at least one feature on the last axis; got shape (5, 0)",
        ),
        (torch.ones(T, D), torch.ones(T), ValueError, "gamma must have shape (12,); got (5,)"),
    ],
)
def test_what_has_no_size_is_refused(x, gamma, error, sentence):
    with pytest.raises(error) as refusal:
        rms_norm(x, gamma)
    assert str(refusal.value) == sentence
