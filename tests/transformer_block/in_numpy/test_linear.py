import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.transformer_block.numerics import B, D, F, H, T, central_differences, normal, relative_error
from transformer_block.in_numpy.linear import linear, linear_backward

SHAPES = [(D,), (T, D), (B, T, D), (B, H, T, D)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_bias", [True, False])
def test_it_agrees_with_pytorch_behind_any_number_of_axes(shape, with_bias):
    x, weight, bias = normal(1, *shape), normal(2, F, D), normal(3, F) if with_bias else None
    tensors = (None if each is None else torch.tensor(each) for each in (x, weight, bias))
    np.testing.assert_allclose(linear(x, weight, bias), functional.linear(*tensors), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradients_are_those_of_autograd(shape):
    x, weight, bias, dy = normal(1, *shape), normal(2, F, D), normal(3, F), normal(4, *shape[:-1], F)
    inputs = [torch.tensor(each, requires_grad=True) for each in (x, weight, bias)]
    functional.linear(*inputs).backward(torch.tensor(dy))
    for gradient, tensor in zip(linear_backward(dy, x, weight, bias), inputs, strict=True):
        assert relative_error(gradient, tensor.grad.numpy()) < 1e-12


def test_the_gradients_are_those_of_central_differences():
    x, weight, bias, dy = normal(1, B, T, D), normal(2, F, D), normal(3, F), normal(4, B, T, F)
    measured = (
        central_differences(lambda x: np.sum(dy * linear(x, weight, bias)), x),
        central_differences(lambda weight: np.sum(dy * linear(x, weight, bias)), weight),
        central_differences(lambda bias: np.sum(dy * linear(x, weight, bias)), bias),
    )
    for gradient, reference in zip(linear_backward(dy, x, weight, bias), measured, strict=True):
        assert relative_error(gradient, reference) < 1e-6


def test_without_a_bias_there_is_no_gradient_of_one():
    x, weight, dy = normal(1, T, D), normal(2, F, D), normal(3, T, F)
    without, given = linear_backward(dy, x, weight), linear_backward(dy, x, weight, normal(4, F))
    assert without[2] is None
    np.testing.assert_array_equal(without[0], given[0])
    np.testing.assert_array_equal(without[1], given[1])


def test_a_batch_without_tokens_moves_nothing():
    assert linear(np.empty((B, 0, D)), normal(1, F, D), normal(2, F)).shape == (B, 0, F)
    dx, dweight, dbias = linear_backward(
        np.empty((B, 0, F)), np.empty((B, 0, D)), normal(1, F, D), normal(2, F)
    )
    assert dx.shape == (B, 0, D)
    np.testing.assert_array_equal(dweight, np.zeros((F, D)))
    np.testing.assert_array_equal(dbias, np.zeros(F))


def test_nothing_that_was_given_is_changed():
    given = normal(1, T, D), normal(2, F, D), normal(3, F), normal(4, T, F)
    for each in given:
        each.setflags(write=False)
    x, weight, bias, dy = given
    assert not np.shares_memory(linear(x, weight, bias), x)
    linear_backward(dy, x, weight, bias)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [linear, lambda *given: linear_backward(np.ones((T, F)), *given)])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"weight": np.ones((D, F))},
            "weight must have shape (out, in) with x of shape (..., in); got (12, 7) and (5, 12)",
        ),
        (
            {"weight": np.ones(D)},
            "weight must have shape (out, in) with x of shape (..., in); got (12,) and (5, 12)",
        ),
        (
            {"x": np.array(1.0)},
            "weight must have shape (out, in) with x of shape (..., in); got (7, 12) and ()",
        ),
        ({"bias": np.ones(D)}, "bias must have shape (7,); got (12,)"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(function, wrong, sentence):
    arguments = {"x": normal(1, T, D), "weight": normal(2, F, D), "bias": normal(3, F)} | wrong
    with pytest.raises(ValueError, match="must") as refusal:
        function(*arguments.values())
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_what_was_returned():
    with pytest.raises(ValueError, match=r"dy must have shape \(5, 7\); got \(5, 12\)"):
        linear_backward(normal(1, T, D), normal(2, T, D), normal(3, F, D))
