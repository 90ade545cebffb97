"""The twins agree for every pair of choices: at every stage, and in every gradient.

Autograd differentiates the PyTorch twin; what the NumPy twin has was derived by hand.
"""

import numpy as np
import pytest
import torch

from tests.transformer_block.choices import COVERING, B, D, T, config_of, inputs_of, name_of
from tests.transformer_block.numerics import normal, relative_error
from transformer_block.in_numpy import block as numpy_block
from transformer_block.in_numpy import stack as numpy_stack
from transformer_block.in_torch import block as torch_block
from transformer_block.in_torch import stack as torch_stack
from transformer_block.parameters import initialize, initialize_stack, perturb

pytestmark = pytest.mark.slow

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}
every_pair = pytest.mark.parametrize("row", COVERING, ids=name_of)


def blocks(config, dtype=np.float64):
    parameters = cast(perturb(initialize(config, 0), 0, scale=0.3), dtype)
    return numpy_block.Block(config, parameters), torch_block.Block(config, parameters)


def stacks(config, dtype=np.float64):
    parameters = cast(perturb(initialize_stack(config, 0), 0, scale=0.3), dtype)
    return numpy_stack.Stack(config, parameters), torch_stack.Stack(config, parameters)


def cast(parameters, dtype):
    return {name: value.astype(dtype) for name, value in parameters.items()}


def tensors(inputs):
    """The same values for the PyTorch twin; gradients are asked for where there can be any."""
    return {name: torch.tensor(value, requires_grad=value.dtype != bool) for name, value in inputs.items()}


@pytest.mark.parametrize(
    ("pair", "dtype"), [(blocks, np.float64), (blocks, np.float32), (stacks, np.float64)]
)
@every_pair
def test_every_stage_agrees(row, pair, dtype):
    config = config_of(row)
    (ours, theirs), inputs = pair(config, dtype), inputs_of(config, dtype)
    with torch.no_grad():
        expected = theirs.stages(**tensors(inputs))
        for (name, value), (same, tensor) in zip(ours.stages(**inputs), expected, strict=True):
            assert name == same
            assert value.dtype == dtype
            assert relative_error(value, tensor.numpy()) < TOLERANCE[dtype], name


@pytest.mark.parametrize(
    ("pair", "dtype"), [(blocks, np.float64), (blocks, np.float32), (stacks, np.float64)]
)
@every_pair
def test_every_gradient_by_hand_is_autograds(row, pair, dtype):
    config = config_of(row)
    (ours, theirs), inputs = pair(config, dtype), inputs_of(config, dtype)
    dy = normal(4, B, T, D, dtype=dtype)

    dx, gradients = ours.gradients(dy=dy, **inputs)

    leaves = tensors(inputs)
    theirs(**leaves).backward(torch.tensor(dy))
    expected = {"x": leaves["x"].grad}
    expected |= {name: parameter.grad for name, parameter in theirs.named_parameters()}
    if config.cross_attention:
        expected["memory"] = leaves["memory"].grad
    assert set(gradients) == expected.keys() - {"x"}
    for name, gradient in {"x": dx, **gradients}.items():
        assert gradient.dtype == dtype
        assert gradient_error(gradient, expected[name].numpy(), dy) < TOLERANCE[dtype], name


def gradient_error(actual, reference, dy):
    """Relative to the largest entry.

    The gradient of a single number is a sum over the whole stream. Its terms may cancel by chance, but not
    their roundings: it is measured by what a sum of so many random terms comes to.
    """
    chance = np.sqrt(dy.size) / np.abs(reference).max() if reference.size == 1 else 1
    return relative_error(actual, reference) / max(1, chance)


@every_pair
def test_the_gradient_of_every_stage_is_autograds(row):
    config = config_of(row)
    (ours, theirs), inputs = blocks(config), inputs_of(config)
    dy = normal(4, B, T, D)

    stages = list(ours.backward_stages(dy=dy, **inputs))

    leaves = tensors(inputs)
    values = [("x", leaves["x"]), *theirs.stages(**leaves)]
    expected = torch.autograd.grad(values[-1][1], [value for _, value in values], torch.tensor(dy))
    assert [name for name, _ in stages] == [name for name, _ in reversed(values)]
    for (name, gradient), reference in zip(stages, reversed(expected), strict=True):
        assert relative_error(gradient, reference.numpy()) < 1e-12, name
