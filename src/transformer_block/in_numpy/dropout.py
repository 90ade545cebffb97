"""Dropout: in training, some entries are left out and the others stretched."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._invariants import require_rate, require_shape


class DropMask(NamedTuple):
    """Which entries are kept (True), and the share that was to be dropped."""

    keep: Bool[np.ndarray, "..."]
    rate: float


def draw_mask(
    shape: tuple[int, ...], rate: float, generator: np.random.Generator
) -> DropMask | None:
    """Decide for each entry on its own whether it is dropped; None if none can be.

    P(keep) = 1 − rate

    Raises: ValueError for a rate outside [0, 1).
    """
    require_rate(rate)
    if rate == 0:
        return None
    return DropMask(generator.random(shape) >= rate, rate)


def dropout(
    x: Float[np.ndarray, "*B"], drop: DropMask | None = None
) -> Float[np.ndarray, "*B"]:
    """Put 0 where an entry is dropped; stretch what is kept, so that the mean stays.

    y = x · keep / (1 − rate)

    Without a mask, as in evaluation, y is x.

    Raises: ValueError for a mask of another shape, or a rate outside [0, 1).
    Source: Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from
    Overfitting, 2014; the stretch is applied in training and not in evaluation.
    """
    if drop is None:
        return x
    require_rate(drop.rate)
    require_shape("keep", drop.keep, x.shape)
    return x * (drop.keep / x.dtype.type(1 - drop.rate))


def dropout_backward(
    dy: Float[np.ndarray, "*B"], drop: DropMask | None = None
) -> Float[np.ndarray, "*B"]:
    """Gradient with respect to x: what was dropped or stretched, its gradient is too.

    dx = dy · keep / (1 − rate)
    """
    return dropout(dy, drop)
