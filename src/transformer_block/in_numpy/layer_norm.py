"""Layer normalization: each token is shifted and scaled by its own mean and spread."""

# mypy: disable-error-code="no-any-return"
# NumPy types the arithmetic of two arrays as Any.

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import require_norm, require_shape


def layer_norm(
    x: Float[np.ndarray, "*B D"],
    gamma: Float[np.ndarray, "D"] | None = None,
    beta: Float[np.ndarray, "D"] | None = None,
    eps: float = 1e-5,
) -> Float[np.ndarray, "*B D"]:
    """Shift and scale each token by the mean and spread of its own features.

    y = gamma · (x − mean) / √(variance + eps) + beta

    Mean and variance run over the last axis, the D features of one token; no token sees
    another. The variance is the population's (it divides by D), and eps stands inside
    the root. Without gamma the scale is 1, without beta the shift is 0. The dtype of x
    is kept.

    Raises: TypeError for a dtype that is not floating; ValueError for an empty feature
    axis, or for a gamma or beta that does not have one entry per feature.
    Source: Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
    """
    require_norm("layer_norm", x, gamma=gamma, beta=beta)
    centered = center(x)
    variance = np.square(centered).mean(axis=-1, keepdims=True)
    y = centered / np.sqrt(variance + eps)
    if gamma is not None:
        y = gamma * y
    if beta is not None:
        y = y + beta
    return np.asarray(y, x.dtype)


def center(x: Float[np.ndarray, "*B D"]) -> Float[np.ndarray, "*B D"]:
    """Take the mean of its features from each token.

    c = x − Σ x / D

    The subtraction is done twice. The mean of a float32 token near 10,000 is off by
    about 0.001; the second pass removes what the first one left, so that a constant
    token becomes 0 and not the rounding error. Float16 is widened to float32, because
    the squares that follow would pass 65,504, the largest float16.
    """
    x = np.asarray(x, np.promote_types(x.dtype, np.float32))
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered - centered.mean(axis=-1, keepdims=True)


def statistics(
    x: Float[np.ndarray, "*B D"],
) -> tuple[Float[np.ndarray, "*B 1"], Float[np.ndarray, "*B 1"]]:
    """Mean and population variance of each token's features.

    mean = Σ x / D,  variance = Σ (x − mean)² / D

    Both are float64, whatever the dtype of x, and keep the feature axis with size 1:
    they broadcast against x.

    Raises: TypeError for a dtype that is not floating; ValueError for an empty feature
    axis.
    """
    require_norm("layer_norm", x)
    mean = x.mean(axis=-1, keepdims=True, dtype=np.float64)
    variance = np.square(x - mean).mean(axis=-1, keepdims=True)
    return mean, variance


def layer_norm_backward(
    dy: Float[np.ndarray, "*B D"],
    x: Float[np.ndarray, "*B D"],
    gamma: Float[np.ndarray, "D"] | None = None,
    eps: float = 1e-5,
) -> tuple[Float[np.ndarray, "*B D"], Float[np.ndarray, "D"], Float[np.ndarray, "D"]]:
    """Gradients of a loss by x, gamma and beta, from dy, its gradient by y.

    With s = √(variance + eps), n = (x − mean) / s and g = gamma · dy, for each token:

    dx = (g − mean(g) − n · mean(g · n)) / s,  dgamma = Σ dy · n,  dbeta = Σ dy

    The three terms of dx: what arrives; less its part along the all-ones direction,
    because a shift of x changes nothing; less its part along n, because a stretch of x
    changes only what eps lets through. The sums run over every axis but the last. beta
    moves y and none of the gradients.

    Raises: as layer_norm; ValueError if dy and x differ in shape.
    Source: the chain rule on Ba, Kiros and Hinton, 2016, arXiv:1607.06450, equation 4.
    """
    require_norm("layer_norm", x, gamma=gamma)
    require_shape("dy", dy, x.shape)
    centered = center(x)
    s = np.sqrt(np.square(centered).mean(axis=-1, keepdims=True) + eps)
    n = centered / s
    dy = np.asarray(dy, n.dtype)
    g = dy if gamma is None else gamma * dy
    along_ones = g.mean(axis=-1, keepdims=True)
    along_n = (g * n).mean(axis=-1, keepdims=True)
    dx = (g - along_ones - n * along_n) / s

    tokens = tuple(range(x.ndim - 1))
    dgamma = (dy * n).sum(axis=tokens)
    dbeta = dy.sum(axis=tokens)
    return (
        np.asarray(dx, x.dtype),
        np.asarray(dgamma, x.dtype),
        np.asarray(dbeta, x.dtype),
    )
