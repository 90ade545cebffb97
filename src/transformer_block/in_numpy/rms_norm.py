"""RMS normalization: each token is scaled by its own size, and not shifted."""

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import require_norm, require_shape


def rms_norm(
    x: Float[np.ndarray, "*B D"],
    gamma: Float[np.ndarray, "D"] | None = None,
    eps: float = 1e-5,
) -> Float[np.ndarray, "*B D"]:
    """Scale each token by the root of the mean square of its own features.

    y = gamma · x / √(mean(x²) + eps)

    The mean runs over the last axis, the D features of one token, and eps stands inside
    the root. No mean is taken away, so that a shift of all features does change y.
    Without gamma the scale is 1. The dtype of x is kept.

    Raises: TypeError for a dtype that is not floating; ValueError for an empty feature
    axis, or for a gamma that does not have one entry per feature.
    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019,
    arXiv:1910.07467, equation 4.
    """
    require_norm("rms_norm", x, gamma=gamma)
    wide = _widened(x)
    y = wide / root_mean_square(wide, eps)
    if gamma is not None:
        y *= gamma
    return np.asarray(y, x.dtype)


def root_mean_square(
    x: Float[np.ndarray, "*B D"], eps: float = 0.0
) -> Float[np.ndarray, "*B 1"]:
    """Size of each token's features.

    √(mean(x²) + eps)

    The feature axis is kept with size 1, so that it broadcasts against x.
    """
    return np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)


def rms_norm_backward(
    dy: Float[np.ndarray, "*B D"],
    x: Float[np.ndarray, "*B D"],
    gamma: Float[np.ndarray, "D"] | None = None,
    eps: float = 1e-5,
) -> tuple[Float[np.ndarray, "*B D"], Float[np.ndarray, "D"]]:
    """Gradients of a loss with respect to x and gamma, from dy, its gradient at y.

    With r = √(mean(x²) + eps), n = x / r and g = gamma · dy, for each token:

    dx = (g − n · mean(g · n)) / r,  dgamma = Σ dy · n

    What is taken away is the part of g along n: a stretch of x changes only what eps
    lets through. The sum runs over every axis but the last.

    Raises: as rms_norm; ValueError if dy and x differ in shape.
    Source: the chain rule on Zhang and Sennrich, 2019, arXiv:1910.07467, equation 4.
    """
    require_norm("rms_norm", x, gamma=gamma)
    require_shape("dy", dy, x.shape)
    wide, dy = _widened(x), _widened(dy)
    size = root_mean_square(wide, eps)
    n = wide / size
    g = dy if gamma is None else gamma * dy
    dx = (g - n * (g * n).mean(axis=-1, keepdims=True)) / size
    dgamma = (dy * n).sum(axis=tuple(range(x.ndim - 1)))
    return np.asarray(dx, x.dtype), np.asarray(dgamma, x.dtype)


def _widened(x: np.ndarray) -> np.ndarray:
    # The squares of float16 would pass 65,504, its largest number.
    return np.asarray(x, np.promote_types(x.dtype, np.float32))
