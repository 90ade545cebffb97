import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, H, T, normal
from transformer_block.in_torch.layer_norm import LayerNorm, layer_norm

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def test_it_is_the_formula():
    x, gamma, beta = random(1, B, T, D), random(2, D), random(3, D)
    deviation = x - x.mean(dim=-1, keepdim=True)
    expected = gamma * deviation / (x.var(dim=-1, keepdim=True, correction=0) + 1e-3).sqrt() + beta
    torch.testing.assert_close(layer_norm(x, gamma, beta, eps=1e-3), expected)


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
def test_each_token_is_normalized_alone_behind_any_number_of_axes(shape):
    x, gamma, beta = random(1, *shape), random(2, D), random(3, D)
    y = layer_norm(x, gamma, beta)
    for token in np.ndindex(shape[:-1]):
        torch.testing.assert_close(y[token], layer_norm(x[token], gamma, beta))


def test_gamma_and_beta_may_be_left_out():
    x, gamma, beta = random(1, T, D), random(2, D), random(3, D)
    plain = layer_norm(x)
    torch.testing.assert_close(layer_norm(x, gamma), gamma * plain)
    torch.testing.assert_close(layer_norm(x, beta=beta), plain + beta)


def test_eps_is_a_hundred_thousandth_unless_given():
    x = 1e-3 * random(1, T, D)
    assert torch.equal(layer_norm(x), layer_norm(x, eps=1e-5))
    assert not torch.allclose(layer_norm(x), layer_norm(x, eps=2e-5), rtol=0.1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_is_kept(dtype):
    x = random(1, T, D, dtype=dtype)
    assert layer_norm(x, x[0], x[1]).dtype == dtype


def test_a_constant_token_becomes_zero():
    assert torch.equal(layer_norm(torch.full((T, D), 3.0)), torch.zeros(T, D))


def test_it_can_be_differentiated():
    inputs = [random(seed, *shape, requires_grad=True) for seed, shape in ((1, (T, D)), (2, (D,)), (3, (D,)))]
    assert gradcheck(layer_norm, inputs)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("x", "error", "sentence"),
    [
        (torch.ones(T, D, dtype=torch.int64), TypeError, "layer_norm needs a floating dtype; got int64"),
        (torch.ones(T, D, dtype=torch.bool), TypeError, "layer_norm needs a floating dtype; got bool"),
        (
            torch.ones(T, 0),
            ValueError,
            "layer_norm needs at least one feature on the last axis; got shape (5, 0)",
        ),
        (
            torch.tensor(1.0),
            ValueError,
            "layer_norm needs at least one feature on the last axis; got shape ()",
        ),
    ],
)
def test_what_has_no_mean_and_spread_is_refused(x, error, sentence):
    with pytest.raises(error) as refusal:
        layer_norm(x)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["gamma", "beta"])
def test_gamma_and_beta_have_one_entry_per_feature(name):
    with pytest.raises(ValueError, match=rf"{name} must have shape \(12,\); got \(13,\)"):
        layer_norm(random(1, T, D), **{name: random(2, D + 1)})


def test_the_module_starts_as_the_identity_of_scale_and_shift():
    module = LayerNorm(D)
    assert list(module.state_dict()) == ["weight", "bias"]
    x = random(1, B, T, D, dtype=torch.float32)
    assert torch.equal(module(x), layer_norm(x))


def test_the_module_loads_from_and_agrees_with_pytorchs_own():
    theirs, ours = nn.LayerNorm(D, eps=1e-3, dtype=torch.float64), LayerNorm(D, eps=1e-3).double()
    nn.init.normal_(theirs.weight)
    nn.init.normal_(theirs.bias)
    ours.load_state_dict(theirs.state_dict())
    x = random(1, B, T, D)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize(("weight", "bias"), [(True, False), (False, True), (False, False)])
def test_a_module_may_go_without_weight_or_bias(weight, bias):
    module = LayerNorm(D, weight=weight, bias=bias).double()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    assert list(module.state_dict()) == ["weight"] * weight + ["bias"] * bias
    x = random(1, B, T, D)
    torch.testing.assert_close(module(x), layer_norm(x, module.weight, module.bias))
