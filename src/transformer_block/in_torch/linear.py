"""A linear map with a bias: the matrix product that every branch is made of."""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transformer_block._invariants import require_linear


def linear(
    x: Float[Tensor, "*B in"],
    weight: Float[Tensor, "out in"],
    bias: Float[Tensor, "out"] | None = None,
) -> Float[Tensor, "*B out"]:
    """Weigh the features of each token together, once for each feature to make.

    y = x · weightᵀ + bias

    Raises: ValueError for a weight or bias that does not fit.
    """
    require_linear(x, weight, bias)
    return functional.linear(x, weight, bias)
