"""Scores and masks for the checks of masked softmax, and what is said of one of their rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from block_course.checks.wording import vector
from block_course.exercise import Array, Case, Misconception, Outputs

ATTENTION_OF_THE_PACKAGE = (
    "transformer_block.in_numpy.scaled_dot_product",
    "transformer_block.in_torch.scaled_dot_product",
)


def scores_of(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: DTypeLike = np.float64, size: float = 1.5
) -> Array:
    """Scores whose softmax is neither flat nor a single one."""
    return np.asarray(rng.uniform(-size, size, shape), dtype)


def wrong(
    name: str,
    answer: Callable[..., Array],
    sentence: Callable[[Array, Array, Array], str],
    visible: Callable[[Case], Array],
) -> Misconception:
    """A misconception told about one row: `sentence` gets its scores, its mask and its weights in yours.

    The row is the first of a case in which some keys are visible and some are hidden.
    """

    def message(case: Case, outputs: Outputs) -> str:
        scores = np.asarray(case.arguments["scores"])
        mask = np.broadcast_to(visible(case), scores.shape)
        mixed = np.argwhere(mask.any(-1) & ~mask.all(-1))
        where = tuple(mixed[0]) if len(mixed) else (0,) * (scores.ndim - 1)
        return sentence(scores[where], mask[where], outputs[0][where])

    return Misconception(name=name, answer=answer, message=message)


def marks(mask: Array) -> str:
    """A row of a mask in ones and zeros: [1 1 0 0]."""
    return vector(mask.astype(int))


def softmax_of(scores: Array, axis: int = -1) -> Array:
    """The plain softmax, for what misconceptions are made of."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=axis, keepdims=True))
