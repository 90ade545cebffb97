"""RMS normalization: each token is scaled by its own size, and not shifted."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import require_norm


def rms_norm(
    x: Float[Tensor, "*B D"],
    gamma: Float[Tensor, "D"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*B D"]:
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
    return functional.rms_norm(x, x.shape[-1:], gamma, eps)


def root_mean_square(
    x: Float[Tensor, "*B D"], eps: float = 0.0
) -> Float[Tensor, "*B 1"]:
    """Size of each token's features.

    √(mean(x²) + eps)

    The feature axis is kept with size 1, so that it broadcasts against x.
    """
    return (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


class RMSNorm(nn.Module):
    """rms_norm with a gamma of its own (`weight`, at first 1), or none (None)."""

    weight: nn.Parameter | None

    def __init__(self, d_model: int, eps: float = 1e-5, *, weight: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model)) if weight else None

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """rms_norm(x, weight, eps)."""
        return rms_norm(x, self.weight, self.eps)
