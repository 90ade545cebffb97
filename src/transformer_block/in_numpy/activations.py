"""Activations: the bend between the two matrices of the feed-forward part."""

import math

import numpy as np
from jaxtyping import Float


def relu(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Pass what is positive, and 0 for the rest.

    relu(x) = max(x, 0)
    """
    return np.maximum(x, 0)


def relu_backward(
    dy: Float[np.ndarray, "*B"], x: Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B"]:
    """Pass dy where x is positive.

    relu′(x) = 1 for x > 0, else 0

    There is no derivative at 0; 0 is taken, as elsewhere.
    """
    return np.where(x <= 0, 0, dy)


def gelu(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Weigh x by the chance Φ(x) that a standard normal is smaller.

    gelu(x) = x · Φ(x) = x/2 · (1 + erf(x / √2))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
    """
    return x * _normal_below(x)


def gelu_backward(
    dy: Float[np.ndarray, "*B"], x: Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B"]:
    """Multiply dy by the slope of gelu.

    gelu′(x) = Φ(x) + x · φ(x),  φ(x) = exp(−x²/2) / √(2π)
    """
    near = np.clip(x, -40, 40)  # beyond, φ is 0; a larger square could overflow
    density = np.exp(-0.5 * near * near) / math.sqrt(2 * math.pi)
    return dy * (_normal_below(x) + near * density)


def gelu_tanh(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Weigh x as gelu does, in the tanh approximation that GPT-2 uses.

    gelu_tanh(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415,
    section 2.
    """
    bend, _ = _tanh_of_cubic(x)
    return 0.5 * x * (1 + bend)


def gelu_tanh_backward(
    dy: Float[np.ndarray, "*B"], x: Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B"]:
    """Multiply dy by the slope of gelu_tanh.

    With t the tanh: (1 + t)/2 + x/2 · (1 − t²) · √(2/π) · (1 + 3 · 0.044715 x²)
    """
    bend, slope = _tanh_of_cubic(x)
    return dy * (0.5 * (1 + bend) + 0.5 * x * slope)


def silu(x: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    """Weigh x by the logistic function of x.

    silu(x) = x · σ(x) = x / (1 + exp(−x))

    Source: Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017,
    arXiv:1702.03118.
    """
    return x * _logistic(x)


def silu_backward(
    dy: Float[np.ndarray, "*B"], x: Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B"]:
    """Multiply dy by the slope of silu.

    silu′(x) = σ(x) · (1 + x · (1 − σ(x)))
    """
    share = _logistic(x)
    return dy * (share * (1 + x * (1 - share)))


def _normal_below(x: np.ndarray) -> np.ndarray:
    from scipy.special import erf  # most chapters never need it

    return np.asarray(0.5 * (1 + erf(x * math.sqrt(0.5))), x.dtype)


def _tanh_of_cubic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Beyond ±10 the tanh is ±1 to the last bit; a larger cube could overflow.
    x = np.clip(x, -10, 10)
    scale = math.sqrt(2 / math.pi)
    bend = np.tanh(scale * (x + 0.044715 * x * x * x))
    return bend, (1 - bend * bend) * scale * (1 + 3 * 0.044715 * x * x)


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))  # never above 1, so that nothing overflows
    return np.where(x >= 0, 1, small) / (1 + small)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu}
BACKWARD = {
    "relu": relu_backward,
    "gelu": gelu_backward,
    "gelu_tanh": gelu_tanh_backward,
    "silu": silu_backward,
}
# A gated feed-forward part, and the activation of its gate.
GATED = {"swiglu": "silu", "geglu": "gelu"}
