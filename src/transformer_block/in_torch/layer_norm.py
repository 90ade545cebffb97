"""Layer normalization: each token is shifted and scaled by its own mean and spread."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import require_norm


def layer_norm(
    x: Float[Tensor, "*B D"],
    gamma: Float[Tensor, "D"] | None = None,
    beta: Float[Tensor, "D"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*B D"]:
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
    return functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)


class LayerNorm(nn.Module):
    """layer_norm with a gamma (`weight`, at first 1) and beta (`bias`, 0) of its own.

    Without weight or bias, that one is None.
    """

    weight: nn.Parameter | None
    bias: nn.Parameter | None

    def __init__(
        self, d_model: int, eps: float = 1e-5, *, weight: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model)) if weight else None
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """layer_norm(x, weight, bias, eps)."""
        return layer_norm(x, self.weight, self.bias, self.eps)
