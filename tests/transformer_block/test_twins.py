"""The twins take the same parameters by the same names, and agree at every stage."""

import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, D, T, normal, random_parameters, small_config
from transformer_block import in_numpy, in_torch
from transformer_block.config import BlockConfig
from transformer_block.in_numpy import block as numpy_block
from transformer_block.in_numpy.masks import padding_mask
from transformer_block.in_torch import block as torch_block
from transformer_block.presets import preset

pytestmark = pytest.mark.slow

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def stages_of_both(config, x, visible=None):
    parameters = random_parameters(config, dtype=x.dtype.type)
    ours = numpy_block.Block(config, parameters).stages(x, visible)
    mask = None if visible is None else torch.tensor(visible)
    theirs = torch_block.Block(config, parameters).stages(torch.tensor(x), mask)
    for (name, value), (same, tensor) in zip(ours, theirs, strict=True):
        assert name == same
        yield name, value, tensor.detach().numpy()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("activation", ["relu", "gelu_tanh"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [None, [3, 5], [0, 4]])
def test_every_stage_agrees(causal, lengths, activation, dtype):
    config = small_config(causal=causal, activation=activation)
    visible = None if lengths is None else padding_mask(lengths, T)
    for name, ours, theirs in stages_of_both(config, normal(1, B, T, D, dtype=dtype), visible):
        assert ours.dtype == theirs.dtype == dtype
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype], err_msg=name)


@pytest.mark.parametrize("causal", [False, True])
def test_the_teaching_preset_agrees(causal):
    sizes = preset("teaching")
    config = BlockConfig(d_model=sizes.d_model, n_heads=sizes.n_heads, d_ff=sizes.d_ff, causal=causal)
    for name, ours, theirs in stages_of_both(config, normal(1, B, T, config.d_model)):
        np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=1e-12, err_msg=name)


@given(st.permutations(range(1, 8)), st.booleans(), st.integers(0, 2**32 - 1))
def test_every_stage_agrees_at_any_size(sizes, causal, seed):
    batch, length, n_heads, width, d_ff, *_ = sizes
    config = BlockConfig(d_model=n_heads * width, n_heads=n_heads, d_ff=d_ff, causal=causal)
    visible = np.random.default_rng(seed).random((batch, length, length)) < 0.7
    for name, ours, theirs in stages_of_both(config, normal(seed, batch, length, config.d_model), visible):
        np.testing.assert_allclose(ours, theirs, atol=1e-11, rtol=1e-11, err_msg=name)


def test_the_twins_have_the_same_files():
    assert files_of(in_numpy) == files_of(in_torch)


@pytest.mark.parametrize("file", sorted({path.stem for path in Path(in_torch.__path__[0]).glob("[!_]*.py")}))
def test_every_function_of_the_torch_twin_has_its_numpy_twin(file):
    ours, theirs = (import_module(f"{twin.__name__}.{file}") for twin in (in_numpy, in_torch))
    functions = {
        name for name, _ in inspect.getmembers(theirs, inspect.isfunction) if is_public_in(theirs, name)
    }
    assert functions <= {name for name in vars(ours) if is_public_in(ours, name)}
    for name in functions:
        parameters = inspect.signature(getattr(theirs, name)).parameters
        assert [each for each in parameters if each != "device"] == [
            *inspect.signature(getattr(ours, name)).parameters
        ]


def files_of(package):
    return {path.name for path in Path(package.__path__[0]).glob("[!_]*.py")}


def is_public_in(module, name):
    return not name.startswith("_") and getattr(vars(module)[name], "__module__", None) == module.__name__
