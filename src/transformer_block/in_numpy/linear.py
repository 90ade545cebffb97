"""A linear map with a bias: the matrix product that every branch is made of."""

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import require_linear, require_shape


def linear(
    x: Float[np.ndarray, "*B in"],
    weight: Float[np.ndarray, "out in"],
    bias: Float[np.ndarray, "out"] | None = None,
) -> Float[np.ndarray, "*B out"]:
    """Weigh the features of each token together, once for each feature to make.

    y = x · weightᵀ + bias

    The tokens of all sequences make one tall matrix: one large product is quicker than
    one for each sequence.

    Raises: ValueError for a weight or bias that does not fit.
    """
    require_linear(x, weight, bias)
    y = _rows(x) @ weight.T
    if bias is not None:
        y += bias
    return y.reshape(*x.shape[:-1], weight.shape[0])


def linear_backward(
    dy: Float[np.ndarray, "*B out"],
    x: Float[np.ndarray, "*B in"],
    weight: Float[np.ndarray, "out in"],
    bias: Float[np.ndarray, "out"] | None = None,
) -> tuple[
    Float[np.ndarray, "*B in"],
    Float[np.ndarray, "out in"],
    Float[np.ndarray, "out"] | None,
]:
    """Gradients with respect to x, weight and bias.

    dx = dy · weight,  dweight = Σ dyᵀ · x,  dbias = Σ dy

    The sums run over all tokens. Without a bias, its gradient is None.

    Raises: as linear; ValueError if dy does not have the shape of y.
    """
    require_linear(x, weight, bias)
    require_shape("dy", dy, (*x.shape[:-1], weight.shape[0]))
    rows = _rows(dy)
    dx = (rows @ weight).reshape(x.shape)
    return dx, rows.T @ _rows(x), None if bias is None else rows.sum(axis=0)


def _rows(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])
