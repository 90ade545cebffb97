"""Activations: the bend between the two matrices of the feed-forward part."""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional


def relu(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Pass what is positive, and 0 for the rest.

    relu(x) = max(x, 0)
    """
    return functional.relu(x)


def gelu(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Weigh x by the chance Φ(x) that a standard normal is smaller.

    gelu(x) = x · Φ(x) = x/2 · (1 + erf(x / √2))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
    """
    return functional.gelu(x)


def gelu_tanh(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Weigh x as gelu does, in the tanh approximation that GPT-2 uses.

    gelu_tanh(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415,
    section 2.
    """
    return functional.gelu(x, approximate="tanh")


def silu(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Weigh x by the logistic function of x.

    silu(x) = x · σ(x) = x / (1 + exp(−x))

    Source: Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017,
    arXiv:1702.03118.
    """
    return functional.silu(x)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu}
# A gated feed-forward part, and the activation of its gate.
GATED = {"swiglu": "silu", "geglu": "gelu"}
