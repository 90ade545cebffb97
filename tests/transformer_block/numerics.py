"""Random inputs and measures of agreement for the tests of the package."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from transformer_block.config import BlockConfig
from transformer_block.parameters import Parameters, initialize, perturb

# Pairwise distinct, so that no two axes can be swapped unseen.
B, T, S, D, H, K, F = 2, 5, 9, 12, 3, 4, 7


def normal(seed: int, *shape: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def small_config(**choices: object) -> BlockConfig:
    return BlockConfig(**{"d_model": D, "n_heads": H, "d_ff": F} | choices)


def random_parameters(config: BlockConfig, seed: int = 0, dtype: type = np.float64) -> Parameters:
    """Parameters in which no bias is 0 and no gain is 1."""
    parameters = perturb(initialize(config, seed), seed)
    return {name: value.astype(dtype) for name, value in parameters.items()}


def relative_error(actual: np.ndarray, reference: np.ndarray) -> float:
    """Largest deviation, relative to the largest entry of the reference."""
    assert actual.shape == reference.shape
    return float(np.abs(actual - reference).max() / np.abs(reference).max())


def central_differences(
    loss: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-5
) -> np.ndarray:
    """Gradient of a loss, measured by moving one entry at a time."""
    gradient = np.empty_like(at)
    for entry in np.ndindex(at.shape):
        move = np.zeros_like(at)
        move[entry] = step
        gradient[entry] = (loss(at + move) - loss(at - move)) / (2 * step)
    return gradient


@st.composite
def tokens(draw: st.DrawFn) -> np.ndarray:
    """Tokens behind up to three axes, of pairwise distinct sizes, at scales from 0.01 to 10,000."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True))
    scale = 10.0 ** draw(st.integers(-2, 4))
    return scale * normal(draw(st.integers(0, 2**32 - 1)), *sizes)
