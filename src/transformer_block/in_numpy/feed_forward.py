"""The feed-forward part: two matrices with a bend between, for each token alone."""

# mypy: disable-error-code="no-any-return"
# NumPy types the arithmetic of two arrays as Any.

import math

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import require_feed_forward, require_one_of


def feed_forward(
    x: Float[np.ndarray, "*B D"],
    w1: Float[np.ndarray, "F D"],
    b1: Float[np.ndarray, "F"],
    w2: Float[np.ndarray, "D F"],
    b2: Float[np.ndarray, "D"],
    activation: str = "relu",
) -> Float[np.ndarray, "*B D"]:
    """Widen each token to F features, bend them, and come back to D.

    y = activation(x · w1ᵀ + b1) · w2ᵀ + b2

    No token sees another. Both matrices are (out, in).

    Raises: ValueError for matrices or biases that do not fit, or for an unknown
    activation.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    equation 2.
    """
    require_feed_forward(x, w1, b1, w2, b2)
    require_one_of("activation", activation, ACTIVATIONS)
    inner = ACTIVATIONS[activation](x @ w1.T + b1)
    return inner @ w2.T + b2


def relu(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Pass what is positive, and 0 for the rest.

    relu(x) = max(x, 0)
    """
    return np.maximum(x, 0)


def gelu_tanh(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Approximate gelu by a tanh, as GPT-2 does.

    gelu_tanh(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415,
    section 2.
    """
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


ACTIVATIONS = {"relu": relu, "gelu_tanh": gelu_tanh}
