"""Tokens to normalize: drawn with a known mean and spread, so that no seed gives a freak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from block_course.exercise import Array

EXAMPLE_TOKEN = np.array([2.0, 4.0, 5.0, 9.0])
HUGE_MEAN = 1e4


def tokens(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: DTypeLike = np.float64,
    *,
    means: tuple[float, float] = (0.5, 3.0),
    spreads: tuple[float, float] = (1.0, 2.0),
) -> Array:
    """Tokens, each with its own mean, of either sign, and its own spread, both from the given ranges."""
    z = rng.standard_normal(shape)
    z -= z.mean(axis=-1, keepdims=True)
    z /= np.sqrt(np.square(z).mean(axis=-1, keepdims=True))
    each = (*shape[:-1], 1)
    mean = rng.uniform(*means, each) * rng.choice([-1.0, 1.0], each)
    return np.asarray(mean + rng.uniform(*spreads, each) * z).astype(dtype)


def example(rng: np.random.Generator) -> Array:
    """A batch (2, 3, 4) whose first token is the example of the statements: messages speak of that one."""
    batch = tokens(rng, (2, 3, len(EXAMPLE_TOKEN)))
    batch[0, 0] = EXAMPLE_TOKEN
    return batch


def sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    """B, T and D, pairwise distinct, so that no two axes can be taken for each other."""
    return 2, int(rng.integers(3, 5)), int(rng.integers(5, 9))


def condition(x: Array, eps: float = 0.0) -> float:
    """By how much normalizing magnifies a rounding error of x: largest |feature| over the smallest spread.

    Constant tokens count only with eps, which keeps them from dividing by zero.
    """
    spread = np.sqrt(x.astype(np.float64).var(axis=-1) + eps)
    return float(np.max(np.abs(x)) / np.min(spread[spread > 0.0]))


def token_at(x: Array, index: tuple[int, ...]) -> Array:
    """The token to which an entry of x, or of a statistic that keeps its axes, belongs."""
    return np.asarray(x[index[:-1]])


def only_the_token_at(place: tuple[int, ...]) -> Callable[[Array, Array], Array]:
    """Outputs of which one token counts: what was given there, and at the others what is expected."""

    def adjust(got: Array, expected: Array) -> Array:
        if got.shape != expected.shape:
            return got
        adjusted = expected.astype(got.dtype)
        adjusted[place] = got[place]
        return adjusted

    return adjust


def first_token(x: Array) -> Array:
    """The first token in reading order."""
    return token_at(x, (0,) * x.ndim)
